"""Local weights through Transformers: generation, log-likelihood, embeddings."""
