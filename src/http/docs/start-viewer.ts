/**
 * Starts Swagger UI in the page of `/docs`. This file runs in the browser, as the build has it: the page loads it as a module. Around
 * Swagger UI it puts the needed scope and a curl command to copy before the responses of each operation, and keeps keys out of commands.
 */

// As much of the browser and of Swagger UI as is used here.
declare const location: { readonly origin: string }
declare const document: {
  querySelector(selector: string): { readonly dataset: { readonly document: string } }
}
declare const SwaggerUIBundle: (options: object) => void

type Element = object
type Component = (props: never) => Element

interface System {
  readonly React: {
    createElement(component: unknown, props: object | null, ...children: readonly unknown[]): Element
  }
  readonly Im: { fromJS(value: object): object }
  readonly fn: { requestSnippetGenerator_curl_bash(request: object): string }
  readonly specSelectors: {
    specResolvedSubtree(path: readonly string[]): { toJS(): ShownOperation } | undefined
    security(): { toJS(): ShownOperation['security'] } | undefined
  }
  getComponent(name: string, isContainer: boolean): Component
}

SwaggerUIBundle({
  dom_id: '#docs',
  url: document.querySelector('#docs').dataset.document,
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  filter: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  validatorUrl: null,
  syntaxHighlight: { theme: 'idea' },
  requestInterceptor: (request: { readonly headers: Record<string, string> }) => {
    const { Authorization: sent } = request.headers
    if (sent !== undefined) request.headers['Authorization'] = keyHeader(sent)
    return request
  },
  plugins: [() => ({ wrapComponents: { responses: withExample, curl: withoutKey } })],
})

/** Before the responses: which key is needed, and the request as a command. */
function withExample(Responses: Component, system: System): Component {
  const { React, Im, fn, specSelectors } = system
  return (props: { readonly path: string; readonly method: string }) => {
    const operation = specSelectors.specResolvedSubtree(['paths', props.path, props.method])?.toJS() ?? {}
    const security = operation.security ?? specSelectors.security()?.toJS() ?? []
    const shown = { ...operation, security }
    const request = exampleRequest(props.method, location.origin + props.path, shown)
    // Swagger UI adds an empty body to every POST without one.
    const plain = fn.requestSnippetGenerator_curl_bash(Im.fromJS(request)).replace(/ \\\n {2}-d ''$/, '')
    const command = plain + fileArgument(operation)
    return React.createElement(
      'div',
      null,
      React.createElement(
        'div',
        { className: 'opblock-section-header' },
        React.createElement('h4', null, `Request: ${neededKey(shown)}`),
      ),
      React.createElement('div', { className: 'example-request' }, commandBlock(system, command)),
      React.createElement(Responses, props),
    )
  }
}

/** A request that was sent, as a command: Swagger UI's own would show the key. */
function withoutKey(_curl: Component, system: System): Component {
  return ({ request }: { readonly request: object }) =>
    system.React.createElement(
      'div',
      { className: 'curl-command' },
      system.React.createElement('h4', null, 'Curl'),
      commandBlock(system, system.fn.requestSnippetGenerator_curl_bash(request)),
    )
}

function commandBlock({ React, getComponent }: System, command: string): Element {
  const HighlightCode = getComponent('HighlightCode', true)
  return React.createElement(
    HighlightCode,
    { className: 'curl', language: 'bash', canCopy: true },
    withVariables(command, location.origin),
  )
}

/** What the viewer shows of a request, as text. It runs in the browser, and imports nothing. */

/** What a document says of one operation, as far as a request can be made of it. */
interface ShownOperation {
  readonly security?: readonly { readonly ApiKey?: readonly string[] }[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly example?: unknown }>> }
}

/** A request as the viewer's own generator of curl commands takes it. */
interface ShownRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** The request that an operation is tried with: the example of its body, and whatever key there is. */
export function exampleRequest(method: string, url: string, operation: ShownOperation): ShownRequest {
  const json =
    fileArgument(operation) === '' ? operation.requestBody?.content?.['application/json'] : undefined
  return {
    url,
    method: method.toUpperCase(),
    headers: {
      ...(needsKey(operation) ? { Authorization: 'ApiKey …' } : {}),
      ...(json ? { 'Content-Type': 'application/json' } : {}),
    },
    ...(json ? { body: JSON.stringify(json.example ?? {}) } : {}),
  }
}

/** How curl takes the file of an operation that wants one, as the last line of a command; empty for any other operation. */
export function fileArgument({ requestBody: { content } = {} }: ShownOperation): string {
  if (!content || Object.keys(content).join() === 'application/json') return ''
  return ` \\\n  ${'multipart/form-data' in content ? "-F 'file=@rows.csv'" : "--data-binary '@file'"}`
}

/**
 * A curl command whose server and key are variables of the shell, so that it can be copied into a script, and a key never lands in a ticket:
 * `'http://host/path'` becomes `"$BRANCHPOINT_URL"'/path'`.
 */
export function withVariables(command: string, origin: string): string {
  return command
    .replace(`'${origin}`, `"$BRANCHPOINT_URL"'`)
    .replace(/'Authorization: [^']*'/i, '"Authorization: ApiKey $BRANCHPOINT_KEY"')
}

/** Which key an operation needs, as a sentence. */
export function neededKey({ security = [] }: ShownOperation): string {
  const scopes = security.flatMap(({ ApiKey = [] }) => ApiKey)
  if (scopes.length > 0) return `Needs a key with the scope ${scopes.join(' or ')}.`
  return security.length > 0 ? 'Needs a key.' : 'Needs no key.'
}

/** The header of a key as people paste it: alone, or with the word before it. */
export function keyHeader(pasted: string): string {
  const key = pasted.trim()
  return key.includes(' ') ? key : `ApiKey ${key}`
}

function needsKey({ security = [] }: ShownOperation): boolean {
  return security.length > 0
}
