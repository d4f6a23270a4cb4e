"""python -m kane.cli"""

from kane.cli import main

main()
