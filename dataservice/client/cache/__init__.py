"""What is known: answers, histories, their freshness and their form in a store."""
