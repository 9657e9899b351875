"""What of a draft may leave: sentences that the evidence supports, also while the model still writes."""
