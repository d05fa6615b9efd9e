// Makes the pages that a server shows at /docs from the Markdown of docs/, in dist/docs: a file of HTML for each page, the pictures that they
// show, a style sheet, and pages.json with the address of each. Where a page links to a file that is not shown, its text stays.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import Markdown from 'react-markdown'
import remarkGfm from 'remark-gfm'

/** Stands for the way from a page to the server's root, which the server knows: `../../`. */
const UP = '@up@'

const FOLDERS = ['guide', 'operations']
const SINGLE = ['interface.md', 'configuration.md', 'handlers.md', 'in-memory.md', 'format.md']

/** Writes the pages of `docs` into `out`. */
export function writeGuide(docs, out) {
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const sources = [
    ...FOLDERS.flatMap((folder) =>
      readdirSync(join(docs, folder))
        .filter((name) => name.endsWith('.md'))
        .map((name) => `${folder}/${name}`),
    ),
    ...SINGLE,
  ]
  const addresses = Object.fromEntries(sources.map((source) => [source, addressOf(source)]))
  const pictures = new Set()
  for (const source of sources) {
    const text = readFileSync(join(docs, source), 'utf8')
    const file = join(out, `${source.slice(0, -3)}.html`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, pageOf(text, source, addresses, pictures))
  }
  for (const picture of pictures) {
    mkdirSync(dirname(join(out, picture)), { recursive: true })
    copyFileSync(join(docs, picture), join(out, picture))
  }
  const pages = Object.fromEntries(
    sources.map((source) => [addresses[source], `${source.slice(0, -3)}.html`]),
  )
  writeFileSync(join(out, 'pages.json'), JSON.stringify({ pages, pictures: [...pictures] }))
  writeFileSync(join(out, 'guide.css'), STYLE)
}

/** `guide/prompts` for its Markdown; the guide's own page is the root, ''. */
function addressOf(source) {
  return source === 'guide/README.md' ? '' : source.slice(0, -3)
}

function pageOf(text, source, addresses, pictures) {
  /** A link of the Markdown, as the page has it; undefined if it leads to what is not shown. */
  const linked = (href) => {
    if (/^(?:[a-z]+:|#)/.test(href)) return href
    const [path, hash] = href.split('#')
    const target = posix.join(posix.dirname(source), path)
    const address = addresses[target] ?? (target === 'api.md' ? 'api' : undefined)
    if (address === undefined) return undefined
    return `${UP}docs${address === '' ? '' : `/${address}`}${hash === undefined ? '' : `#${hash}`}`
  }
  const heading = (level) => (props) =>
    createElement(level, { id: idOf(textOf(props.children)) }, props.children)
  const components = {
    ...Object.fromEntries(['h1', 'h2', 'h3', 'h4'].map((level) => [level, heading(level)])),
    a: ({ href = '', children }) => {
      const to = linked(href)
      return to === undefined
        ? createElement('span', null, children)
        : createElement('a', { href: to }, children)
    },
    img: ({ src = '', alt }) => {
      const picture = posix.join(posix.dirname(source), src)
      pictures.add(picture)
      return createElement('img', { src: `${UP}docs/${picture}`, alt })
    },
    table: ({ children }) =>
      createElement('div', { className: 'wide' }, createElement('table', null, children)),
  }
  const anchors = text.replaceAll(/<a id="([^"]+)"><\/a>/g, '') // rules of the interface: their numbers are in the text
  const body = renderToStaticMarkup(
    createElement(Markdown, { remarkPlugins: [remarkGfm], components }, anchors),
  )
  const title = /^# (.+)$/m.exec(text)?.[1] ?? basename(source, '.md')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title.replaceAll('&', '&amp;').replaceAll('<', '&lt;')} · Branchpoint</title>
<link rel="stylesheet" href="${UP}docs/guide.css">
</head>
<body>
<nav><a href="${UP}docs">Guide</a> <a href="${UP}docs/api">Routes</a> <a href="${UP}docs/interface">Interface</a> <a href="${UP}docs/configuration">Configuration</a></nav>
<main>
${body}
</main>
</body>
</html>
`
}

function textOf(node) {
  if (Array.isArray(node)) return node.map(textOf).join('')
  return typeof node === 'object' && node !== null ? textOf(node.props.children) : String(node ?? '')
}

/** As GitHub makes the id of a heading. */
function idOf(text) {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
}

const STYLE = `:root { color-scheme: light dark; --line: #8884; --code: #8882; --link: light-dark(#0b57d0, #8ab4f8) }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif }
nav { padding: 12px 24px; border-bottom: 1px solid var(--line) }
nav a { margin-right: 16px }
main { max-width: 52rem; margin: 0 auto; padding: 8px 24px 64px }
a { color: var(--link) }
h1, h2, h3 { line-height: 1.25; margin: 1.6em 0 0.6em }
pre { overflow-x: auto; padding: 12px 16px; background: var(--code); border-radius: 6px; font-size: 14px; line-height: 1.45 }
code { font-family: ui-monospace, monospace; font-size: 0.9em }
:not(pre) > code { background: var(--code); padding: 1px 4px; border-radius: 4px }
.wide { overflow-x: auto }
table { border-collapse: collapse }
th, td { text-align: left; vertical-align: top; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line) }
img { max-width: 100%; height: auto }
`
