import { expect } from 'chai'
import type { Reply, RunningService } from '../../support/servers/service.ts'

/** Makes an application whose parameters are these, and answers its variant's id. */
export async function makePrompt(
  service: RunningService,
  slug: string,
  parameters: object,
  more: object = {},
): Promise<string> {
  const data = { uri: 'svc:builtin:completion:v0', parameters }
  const made = await service.post('/simple/applications', { application: { slug, data, ...more } })
  expect(made.status, made.text).to.equal(200)
  return made.body.application.variant_id
}

/** Commits these parameters in place of those that there are. */
export async function changePrompt(
  service: RunningService,
  variant: string,
  parameters: object,
  message = 'Changed',
): Promise<void> {
  const commit = { application_variant_id: variant, message, delta: { set: { parameters } } }
  const made = await service.post('/applications/revisions/commit', { application_revision_commit: commit })
  expect(made.status, made.text).to.equal(200)
}

export async function deploy(
  service: RunningService,
  slug: string,
  version: number,
  environment: string,
): Promise<void> {
  const made = await service.post('/applications/revisions/deploy', {
    application_revision_ref: { slug, version },
    environment_ref: { slug: environment },
  })
  expect(made.status, made.text).to.equal(200)
}

/** What Langfuse's SDKs send: a user name of theirs and a password. */
export function basic(password: string, user = 'pk-lf-1'): { readonly authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
}

/** A refusal is the problem document, and says the same under the names that clients of others read (interface 16.6). */
export function expectProblem(
  reply: Reply,
  status: number,
  code: string,
  sentence: RegExp | string = '',
): void {
  expect(reply.status, reply.text).to.equal(status)
  const { type, title, detail, count, message, error } = reply.body
  expect(reply.body).to.include({ status, code })
  expect({ type, count, message, error }).to.deep.equal({
    type: `urn:svc:problem:${code}`,
    count: 0,
    message: detail,
    error: title,
  })
  expect(detail).to.match(new RegExp(sentence))
}
