/** What the viewer shows of a request, as text. It runs in the browser, and imports nothing. */

/** What a document says of one operation, as far as a request can be made of it. */
export interface ShownOperation {
  readonly security?: readonly { readonly ApiKey?: readonly string[] }[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly example?: unknown }>> }
}

/** A request as the viewer's own generator of curl commands takes it. */
export interface ShownRequest {
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
