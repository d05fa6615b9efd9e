/** The viewer's text for requests. Runs in the browser, and imports nothing. */

/** The part of an operation that is needed to build a request. */
export interface ShownOperation {
  readonly security?: readonly { readonly ApiKey?: readonly string[] }[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly example?: unknown }>> }
}

/** A request as input for the viewer's own curl generator. */
export interface ShownRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** An example request for an operation, with its body's example and a placeholder for the key. */
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

/** The last line of a curl command that sends the file of an upload operation; empty for other operations. */
export function fileArgument({ requestBody: { content } = {} }: ShownOperation): string {
  if (!content || Object.keys(content).join() === 'application/json') return ''
  return ` \\\n  ${'multipart/form-data' in content ? "-F 'file=@rows.csv'" : "--data-binary '@file'"}`
}

/**
 * Replaces server and key in a curl command by shell variables, so that it can be copied into a script, and
 * keys do not leak into tickets: `'http://host/path'` becomes `"$BRANCHPOINT_URL"'/path'`.
 */
export function withVariables(command: string, origin: string): string {
  return command
    .replace(`'${origin}`, `"$BRANCHPOINT_URL"'`)
    .replace(/'Authorization: [^']*'/i, '"Authorization: ApiKey $BRANCHPOINT_KEY"')
}

/** The key that an operation needs, as a sentence. */
export function neededKey({ security = [] }: ShownOperation): string {
  const scopes = security.flatMap(({ ApiKey = [] }) => ApiKey)
  if (scopes.length > 0) return `Needs a key with the scope ${scopes.join(' or ')}.`
  return security.length > 0 ? 'Needs a key.' : 'Needs no key.'
}

/** The header for a pasted key, alone or with the word before it. */
export function keyHeader(pasted: string): string {
  const key = pasted.trim()
  return key.includes(' ') ? key : `ApiKey ${key}`
}

function needsKey({ security = [] }: ShownOperation): boolean {
  return security.length > 0
}
