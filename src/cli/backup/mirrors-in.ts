import { isProjectName } from '../../access/keys.ts'
import { BUILD_PREFIX } from '../../git/store.ts'
import { nodeFs, isDead, parseIdentity } from '../../storage/files.ts'
import type { RepositoryName } from './repository-name.ts'

/** All mirrors of a backup, in the order of the families. Removes what a killed run left behind. */
export function mirrorsIn(dir: string, families: readonly string[]): RepositoryName[] {
  const projects = (nodeFs.readDir(dir) ?? []).filter(
    (name) => isProjectName(name) && nodeFs.stat(`${dir}/${name}`)?.kind === 'folder',
  )
  return projects.flatMap((project) =>
    families.flatMap((family) => {
      const folder = `${dir}/${project}/${family}`
      const names = nodeFs.readDir(folder) ?? []
      for (const name of names) if (isLeftover(folder, name)) nodeFs.removeTree(`${folder}/${name}`)
      return names
        .filter((name) => name.endsWith('.git') && !name.startsWith('.'))
        .map((name) => ({ project, family, slug: name.slice(0, -'.git'.length) }))
    }),
  )
}

function isLeftover(folder: string, name: string): boolean {
  const owner = name.startsWith(BUILD_PREFIX) ? parseIdentity(name.slice(BUILD_PREFIX.length)) : undefined
  return owner !== undefined && isDead(owner, folder)
}
