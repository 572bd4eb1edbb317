"""What Markdown of a repository has and a site has not: words behind a fence's language, links to folders and sources."""

import re
import shutil
from pathlib import Path

from mkdocs.utils import get_relative_url

# Pages that a search should name before others, or behind them.
BOOSTS = {"docs/glossary.md": 6, "docs/numerics.md": 8, "docs/disagreements.md": 2, "docs/layouts.md": 2, "CHANGELOG.md": 0.1, "docs/history.md": 0.1, "docs/faults.md": 0.3, "docs/measured/ledger.md": 0.3, "docs/measured/hazards.md": 0.5}
# Of drawn pages those that are long fall behind short ones.
DRAWN_BOOSTS = {"backends": 0.6, "contracts": 0.6, "exit-codes": 3}

FENCE = re.compile(r"^(\s*```\w+) .*$", re.MULTILINE)
# What a site has and a repository has not: pages that are drawn. They are words between marks there.
DRAWN = re.compile(r"<!--\s*drawn:\s*([\w-]+)\s*-->(.+?)<!--\s*-->", re.DOTALL)
LINK = re.compile(r"(!?)\[([^\]]+)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown, page, config, files):
    """Words that a drawn page is marked for lead to it. A link to what is no page stays as its text and the path; one to a document of docs/measured leads to its drawn page; a fence keeps its language alone."""
    here = Path(page.file.src_uri).parent
    page.meta["search"] = {"boost": BOOSTS.get(page.file.src_uri, DRAWN_BOOSTS.get(page.file.src_uri.split("/")[-2], 0.3) if "/reference/" in page.file.src_uri else 1)}
    if markdown.count("\n|") > markdown.count("\n#") and "/measured/" in page.file.src_uri:
        page.meta["hide"] = ["toc"]  # room for tables

    def drawn(match):
        name, text = match.groups()
        reference = Path(config.docs_dir, "docs/reference", name, "index.md").is_file()
        return f"[{text}]({f'reference/{name}/index.md' if reference else f'measured/{name}.md'})"

    def target(match):
        picture, text, path, _ = match.groups()
        if picture or "://" in path:
            return match.group(0)
        there = Path(config.docs_dir, here, path).resolve()
        if there.suffix == ".json" and there.with_suffix(".md").is_file():
            return f"[{text}]({path.removesuffix('json')}md)"
        if there.is_file():
            return match.group(0)
        inside = there.relative_to(Path(config.docs_dir).resolve())
        return text if text.strip("`") == str(inside) else f"{text} (`{inside}`)"

    return LINK.sub(target, DRAWN.sub(drawn, FENCE.sub(r"\1", markdown)))


# What the theme's offline plugin loads from a network when a page is opened.
SHIM = "https://unpkg.com/iframe-worker/shim"
OURS = "assets/javascripts/frame_worker.js"


def on_post_page(output, page, config):
    return output.replace(SHIM, get_relative_url(OURS, page.url))


def on_post_template(output_content, template_name, config):
    return output_content.replace(SHIM, OURS)


def on_post_build(config):
    shutil.copy(Path(__file__).with_name("frame_worker.js"), Path(config.site_dir) / OURS)
