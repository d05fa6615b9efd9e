import { type PlacedOperation, anchorOf, operationToHtml, searchWordsOf } from './docs-operation.ts'
import { DOCS_SCRIPT } from './docs-script.ts'
import { DOCS_STYLE } from './docs-style.ts'
import { escapeHtml, proseToHtml } from './escape-html.ts'
import { type OpenApiDocument, type Operation, dereference } from './open-api-document.ts'

/** An OpenAPI document as one self-contained HTML page: operations grouped by tag, with a filter box. */
export function docsPage(openApi: object): string {
  const document = openApi as OpenApiDocument // written by this service; every field is read as optional but `info`
  const { title, version, description } = document.info
  const groups = groupByTag(document)
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<title>${escapeHtml(title)}</title><style>${DOCS_STYLE}</style></head><body>` +
    `<nav><h1>${escapeHtml(title)}</h1><span class="faint">${escapeHtml(version)} · ` +
    '<a href="openapi.json">openapi.json</a></span>' +
    '<input id="filter" type="search" placeholder="Filter operations" aria-label="Filter operations" autofocus>' +
    `${groups.map(navigationOf).join('')}</nav>` +
    `<main>${proseToHtml(description)}${groups.map((group) => sectionOf(document, group)).join('')}</main>` +
    `<script>${DOCS_SCRIPT}</script></body></html>`
  )
}

interface Group {
  readonly name: string
  readonly description: string | undefined
  readonly operations: readonly PlacedOperation[]
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** In the order of the document's own tags; then any other tag in order of appearance. */
function groupByTag(document: OpenApiDocument): readonly Group[] {
  const operations = operationsOf(document)
  const declared = document.tags ?? []
  const names = new Set([...declared.map(({ name }) => name), ...operations.map(tagOf)])
  return [...names]
    .map((name) => ({
      name,
      description: declared.find((tag) => tag.name === name)?.description,
      operations: operations.filter((placed) => tagOf(placed) === name),
    }))
    .filter((group) => group.operations.length > 0)
}

function operationsOf(document: OpenApiDocument): readonly PlacedOperation[] {
  return Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => {
      const operation = item[method] as Operation // OpenAPI has nothing else under a method's name
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])]
      return {
        method,
        path,
        operation,
        parameters: parameters.map((parameter) => dereference(document, parameter)),
      }
    }),
  )
}

function tagOf({ operation }: PlacedOperation): string {
  return operation.tags?.[0] ?? 'other'
}

function navigationOf({ name, operations }: Group): string {
  const items = operations.map(
    (placed) =>
      `<li data-words="${searchWordsOf(placed)}"><a href="#${anchorOf(placed)}" title="${escapeHtml(placed.operation.summary ?? '')}">` +
      `<span class="method ${placed.method}">${placed.method.toUpperCase()}</span>` +
      `<span class="path">${escapeHtml(placed.path)}</span></a></li>`,
  )
  return `<div data-group><h2>${escapeHtml(name)}</h2><ul>${items.join('')}</ul></div>`
}

function sectionOf(document: OpenApiDocument, { name, description, operations }: Group): string {
  const cards = operations.map((placed) => operationToHtml(document, placed))
  return `<section data-group><h2>${escapeHtml(name)}</h2>${proseToHtml(description)}${cards.join('')}</section>`
}
