"""The cases of `scripts/measure`, a module for each thing that is measured, and the one program that runs them."""
