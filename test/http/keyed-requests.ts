import { expect } from 'chai'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { git } from '../support/git/git-program.ts'
import type { Reply, RunningService } from '../support/servers/service.ts'
import { testedFamilies } from './conformance/tested-surface.ts'
import { OPERATIONS } from './keyed-operations.ts'

/** A request that was answered. */
export interface Sent {
  readonly name: string
  readonly path: string
  readonly body: object
  readonly key: string
  readonly first: Reply
}

/** Sends each operation once, with a key of its own. */
export async function sendAll(service: RunningService): Promise<readonly Sent[]> {
  const sent = []
  for (const [number, { name, prepare }] of OPERATIONS.entries()) {
    const { path, body } = await prepare(service, `bot-${number}`)
    const key = `key ${number}`
    const first = await service.post(path, body, { 'idempotency-key': key })
    expect(first.status, `${name}: ${first.text}`).to.equal(200)
    expect(first.headers.has('idempotent-replayed'), name).to.equal(false)
    sent.push({ name, path, body, key, first })
  }
  return sent
}

/** Expects the answer of a repeated request to be the first one. */
export function expectSame(name: string, first: Reply, again: Reply): void {
  expect(again.status, `${name}: ${again.text}`).to.equal(200)
  expect(again.body, name).to.deep.equal(first.body)
}

/** Every commit and every ref of every repository. */
export function everything({ storeDir }: RunningService): string {
  return testedFamilies
    .map(({ folder }) => join(storeDir, 'default', folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .map((path) => `${path}\n${git(path, ['rev-list', '--all'])}\n${git(path, ['for-each-ref'])}`)
    .join('\n')
}
