"""What is run by hand or by CI: set-up, tests, compilation, measurements."""
