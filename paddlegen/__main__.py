"""The entry point: answers `--version` at once, and hands everything else to the command line."""

import sys


def main() -> int:
    """Run `paddlegen` with the arguments of this process; return its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from paddlegen._version import __version__  # the fast path imports nothing else

        sys.stdout.write(f"paddlegen {__version__}\n")
        return 0
    from paddlegen.cli.shell import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
