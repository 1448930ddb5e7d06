"""The contract as values: resources, requests, decoded answers, paging, quota."""
