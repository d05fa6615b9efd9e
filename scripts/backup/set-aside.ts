import { dirname } from 'node:path'
import { nodeFs } from '../../src/storage/node-fs.ts'
import type { RepositoryName } from './repository-name.ts'
import { pathOf } from './repository-name.ts'

/**
 * Takes the mirror of a repository that is no longer in the store out of what a restore brings back; answers where in the backup it
 * is kept.
 */
export async function setAside(dir: string, name: RepositoryName, time: string): Promise<string> {
  const to = `.gone/${time}/${pathOf(name)}`
  nodeFs.makeDir(dirname(`${dir}/${to}`))
  nodeFs.rename(`${dir}/${pathOf(name)}`, `${dir}/${to}`)
  await nodeFs.syncDir(dirname(`${dir}/${to}`))
  await nodeFs.syncDir(dirname(`${dir}/${pathOf(name)}`))
  return to
}
