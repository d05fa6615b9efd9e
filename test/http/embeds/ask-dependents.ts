import { expect } from 'chai'
import type { Reply } from '../../support/servers/service.ts'
import { type EmbedClient, ok } from './embed-client.ts'

/** Asks what depends on what the body names; the answer may be a refusal. */
export function askDependents(client: EmbedClient, body: object, plural = 'workflows'): Promise<Reply> {
  return client.service.post(`/${plural}/revisions/dependents`, body)
}

/** The dependents in the answer's order, each as `<revision slug>: <its locations, or its keys>`. */
export async function dependentsIn(client: EmbedClient, body: object, plural?: string): Promise<string[]> {
  const answer = await ok(askDependents(client, body, plural))
  expect(answer.count).to.equal(answer.dependents.length)
  return answer.dependents.map(({ kind, locations, keys, ...references }: any) => {
    const { slug } = references.workflow_revision ?? references.environment_revision
    const where = kind === 'embed' ? locations.map((place: any) => place.join('/')) : keys
    return `${slug}: ${where.join(' ')}`
  })
}
