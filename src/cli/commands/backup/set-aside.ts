import { dirname } from 'node:path'
import { nodeFs } from '../../../storage/node-fs.ts'
import type { RepositoryName } from './repository-name.ts'
import { pathOfName } from './repository-name.ts'

/**
 * Takes the mirror of a repository that is no longer in the store out of what a restore brings back; answers where in the backup it
 * is kept.
 */
export async function setAside(dir: string, name: RepositoryName, time: string): Promise<string> {
  const to = `.gone/${time}/${pathOfName(name)}`
  nodeFs.makeDir(dirname(`${dir}/${to}`))
  nodeFs.rename(`${dir}/${pathOfName(name)}`, `${dir}/${to}`)
  await nodeFs.syncDir(dirname(`${dir}/${to}`))
  await nodeFs.syncDir(dirname(`${dir}/${pathOfName(name)}`))
  return to
}
