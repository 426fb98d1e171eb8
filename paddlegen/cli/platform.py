"""`paddlegen platform`: write what clusters need before any job to `manifests/<cluster>/_platform/`."""

from __future__ import annotations

from paddlegen.cli import options, render, session
from paddlegen.rendering import Selection


def main(
    cluster: options.Clusters = None,
    root: options.Root = None,
    format_: options.Format = None,
    cache: options.UseCache = True,
    dry_run: options.DryRun = False,
) -> int:
    """Write the CRDs, operator and namespaces of every cluster.

    What its profile lists under platform: crds (PaddleJob), operator (account, rights, Deployment),
    namespaces.  `paddlegen render` writes them too, and `paddlegen check` checks them.
    """
    opened = session.open_session(root)
    selection = Selection(frozenset(cluster or ()), only_platform=True)
    return render.run(opened, selection, format_, use_cache=cache, dry_run=dry_run)
