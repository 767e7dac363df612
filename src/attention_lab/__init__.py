"""What a learner imports: checks, heatmaps and the running example of the lesson."""
