import { expect } from 'chai'
import { git } from '../git/git-program.ts'
import type { Reply, RunningService } from '../servers/service.ts'

/** A family as its removal is tested: where it is asked for and lies, and a payload. */
export interface Removable {
  readonly path: string
  readonly singular: string
  readonly folder: string
  readonly data: object
}

export const REMOVABLES: readonly Removable[] = [
  { path: 'workflows', singular: 'workflow', folder: 'workflows', data: { parameters: { n: 1 } } },
  {
    path: 'testsets',
    singular: 'testset',
    folder: 'testsets',
    data: { testcases: [{ data: { q: '1' } }, { data: { q: '2' } }] },
  },
  { path: 'queries', singular: 'query', folder: 'queries', data: { filtering: { conditions: [] } } },
  { path: 'environments', singular: 'environment', folder: 'environments', data: { references: {} } },
]

/** Creates one with a first revision; answers its flat record. */
export async function create(
  service: Pick<RunningService, 'post'>,
  { path, singular, data }: Removable,
  slug: string,
): Promise<any> {
  const reply = await service.post(`/simple/${path}/`, { [singular]: { slug, data } })
  expect(reply.status, reply.text).to.equal(200)
  return reply.body[singular]
}

export async function remove(
  service: RunningService,
  { path }: Pick<Removable, 'path'>,
  id: string,
): Promise<Reply> {
  return service.call('DELETE', `/simple/${path}/${id}`)
}

export async function undelete(
  service: RunningService,
  { path }: Pick<Removable, 'path'>,
  id: string,
): Promise<Reply> {
  return service.post(`/simple/${path}/${id}/undelete`)
}

/** Every ref of a repository and what HEAD names, as the git program shows them. */
export function refsOf(gitdir: string): string {
  return `${git(gitdir, ['for-each-ref'])}\n${git(gitdir, ['symbolic-ref', 'HEAD'])}`
}

/** What git finds wrong with a repository. Packs that the server merges while git reads them are missed once, not twice. */
export function fsck(gitdir: string): string {
  const run = (): string => git(gitdir, ['fsck', '--strict', '--no-dangling'])
  try {
    return run()
  } catch {
    return run()
  }
}
