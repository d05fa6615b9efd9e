import { KEY } from '../../../test/support/servers/child-server.ts'

/** A revision as the interface answers it, as far as clients here look at it. */
export interface AnsweredRevision {
  readonly id: string
  readonly version: number
  readonly message?: string
}

/** An answer about an application's revision, or a problem document. */
export interface RestAnswer {
  readonly status: number
  readonly etag: string
  readonly body: {
    readonly application_revision?: AnsweredRevision
    readonly retrieval_info?: {
      readonly references: { readonly environment_revision?: { readonly version: number } }
    }
    readonly merge?: { readonly kind: string }
    readonly code?: string
    readonly detail?: string
  }
}

/** The service could not say what became of a request, or not do it: it has no database for a while. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable'
}

/** Posts to a path below the application surface of a server; answers refusals, too. Throws Unavailable where the answer is 503. */
export async function post(
  url: string,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<RestAnswer> {
  const answer = await fetch(`${url}/applications/${path}`, {
    method: 'POST',
    headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  // The shape is the interface's; a difference shows as a failed proof.
  const parsed = text === '' ? {} : (JSON.parse(text) as RestAnswer['body'])
  if (answer.status === 503)
    throw new Unavailable(`${path} was answered 503: ${parsed.code}: ${parsed.detail}`)
  return { status: answer.status, etag: answer.headers.get('etag') ?? '', body: parsed }
}
