import { schemaToHtml, schemaTypeName } from './docs-schema.ts'
import { exampleOfSchema } from './example-of-schema.ts'
import { escapeHtml, lineToHtml, proseToHtml } from './escape-html.ts'
import {
  type Content,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  type Response,
  type SecurityRequirement,
  dereference,
} from './open-api-document.ts'

/** An operation with the method and path it answers. */
export interface PlacedOperation {
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly operation: Operation
}

/** One operation as a card that opens: parameters, body, a curl line, responses. */
export function operationToHtml(document: OpenApiDocument, placed: PlacedOperation): string {
  const { method, path, operation } = placed
  return (
    `<details class="operation" id="${anchorOf(placed)}" data-words="${searchWordsOf(placed)}"><summary>` +
    `<span class="method ${escapeHtml(method)}">${escapeHtml(method.toUpperCase())}</span>` +
    `<span class="path">${escapeHtml(path)}</span>` +
    `<span class="faint">${lineToHtml(operation.summary)}</span></summary><div>` +
    proseToHtml(operation.description) +
    proseToHtml(neededScope(operation.security ?? document.security ?? [])) +
    parametersToHtml(document, placed.parameters) +
    bodyToHtml(document, operation) +
    `<h3>Try it</h3><pre>${escapeHtml(curlLine(document, placed))}</pre>` +
    `<h3>Responses</h3>${responsesToHtml(document, operation.responses ?? {})}</div></details>`
  )
}

/** What key a request needs; nothing where it needs none, or the description says it. */
function neededScope(security: readonly SecurityRequirement[]): string | undefined {
  const scopes = security.flatMap(({ ApiKey = [] }) => ApiKey)
  return scopes.length === 0
    ? undefined
    : `Needs a key with the scope ${scopes.map((it) => `\`${it}\``).join(' or ')}.`
}

/** The fragment under which the page has this operation. */
export function anchorOf({ method, path }: PlacedOperation): string {
  return escapeHtml(`${method}${path}`.replace(/[^A-Za-z0-9]+/g, '-').replace(/-$/, ''))
}

/** What the filter box finds the operation by, in lower case. */
export function searchWordsOf({ method, path, operation }: PlacedOperation): string {
  const words = [
    method,
    path,
    operation.summary ?? '',
    operation.operationId ?? '',
    ...(operation.tags ?? []),
  ]
  return escapeHtml(words.join(' ').toLowerCase())
}

function parametersToHtml(document: OpenApiDocument, parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(
    ({ name, in: place, required, description, schema }) =>
      `<li><span class="name">${escapeHtml(name)}</span> ` +
      (required ? '<span class="required">required</span> ' : '') +
      `<span class="type">in ${escapeHtml(place)}, ${escapeHtml(schemaTypeName(document, schema ?? true))}</span> ` +
      `${lineToHtml(description)}</li>`,
  )
  return `<h3>Parameters</h3><ul class="schema">${rows.join('')}</ul>`
}

function bodyToHtml(document: OpenApiDocument, { requestBody }: Operation): string {
  if (!requestBody) return ''
  const body = dereference(document, requestBody)
  return `<h3>Request body</h3>${proseToHtml(body.description)}${contentToHtml(document, body.content ?? {})}`
}

function contentToHtml(document: OpenApiDocument, content: Content): string {
  return Object.entries(content)
    .map(
      ([type, { schema }]) =>
        `<p class="type">${escapeHtml(type)}</p>${schemaToHtml(document, schema ?? true)}`,
    )
    .join('')
}

function responsesToHtml(document: OpenApiDocument, responses: Readonly<Record<string, Response>>): string {
  return Object.entries(responses)
    .map(([status, response]) => {
      const { description, content } = dereference(document, response)
      const line = `<span class="name">${escapeHtml(status)}</span> ${lineToHtml(description)}`
      if (!content) return `<p class="response">${line}</p>`
      const [example] = examplesOf(document, content)
      const shown = example === undefined ? '' : `<pre>${escapeHtml(JSON.stringify(example, null, 2))}</pre>`
      return `<details class="response"><summary>${line}</summary>${contentToHtml(document, content)}${shown}</details>`
    })
    .join('')
}

function curlLine(
  document: OpenApiDocument,
  { method, path, operation, parameters }: PlacedOperation,
): string {
  const query = parameters.filter((parameter) => parameter.in === 'query' && parameter.required)
  const suffix = query.length === 0 ? '' : `?${query.map(({ name }) => `${name}=…`).join('&')}`
  const lines = [`curl -X ${method.toUpperCase()} ${addressOf(document, path + suffix)}`]
  if (operation.security?.length !== 0) lines.push('-H "Authorization: ApiKey $BRANCHPOINT_KEY"')
  const content = operation.requestBody ? dereference(document, operation.requestBody).content : undefined
  const [type] = Object.keys(content ?? {})
  if (content && type === 'application/json') {
    lines.push(
      `-H 'Content-Type: application/json'`,
      `-d ${quoted(JSON.stringify(examplesOf(document, content)[0]))}`,
    )
  }
  return lines.join(' \\\n  ')
}

/** As a shell takes it: under the document's server, or, where that is named by a path alone, the one in BRANCHPOINT_URL. */
function addressOf(document: OpenApiDocument, path: string): string {
  const server = (document.servers?.[0]?.url ?? '').replace(/\/$/, '')
  return URL.canParse(server) ? quoted(server + path) : `"$BRANCHPOINT_URL"${quoted(server + path)}`
}

/** The first example of each media type: written in the document, or made from its schema. */
function examplesOf(document: OpenApiDocument, content: Content): readonly unknown[] {
  return Object.values(content).map(
    ({ example, examples, schema }) =>
      example ?? Object.values(examples ?? {})[0]?.value ?? exampleOfSchema(document, schema ?? true),
  )
}

/** As one word of a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
