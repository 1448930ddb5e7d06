"""What calls would cost before they are made: guesses in place of what is not known, few signals in place of many."""
