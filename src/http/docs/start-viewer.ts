import {
  type ShownOperation,
  exampleRequest,
  fileArgument,
  keyHeader,
  neededKey,
  withVariables,
} from './request-text.ts'

/**
 * Starts Swagger UI in the page of `/docs/api`. This file runs in the browser as a module, as built. It adds the
 * needed scope and a curl command before the responses of each operation, and keeps keys out of commands.
 */

// The parts of the browser and of Swagger UI used here.
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

/** Adds the needed key and the request as a command before the responses. */
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

/** Shows a sent request as a command; Swagger UI's own would show the key. */
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
