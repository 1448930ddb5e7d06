"""The certificate that Excel needs on this machine, and who trusts it."""
