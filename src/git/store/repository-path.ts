import { Refusal } from '../../errors.ts'
import type { Fs } from '../../storage/files.ts'

/**
 * The folder of a repository in a project's: every path that is made of an artifact's slug is made here. What could lead elsewhere,
 * or be taken for a folder that is being built, is refused with `damaged_repository`; what slugs people may choose is ruled above.
 */
export function repositoryPath(project: string, family: string, slug: string): string {
  for (const name of [family, slug]) {
    if (name !== '' && !name.startsWith('.') && !/[/\0]/.test(name)) continue
    throw new Refusal(
      'damaged_repository',
      `${JSON.stringify(name.slice(0, 200))} cannot be the name of a repository's folder; give it another one.`,
    )
  }
  return `${project}/${family}/${slug}.git`
}

/** The paths of all repositories of a store (interface 15.5): `<dir>/<project>/<family folder>/<slug>.git`. */
export function storeRepositories(fs: Fs, dir: string, familyFolders: readonly string[]): string[] {
  const projects = (fs.readDir(dir) ?? []).filter((name) => !name.startsWith('.'))
  return projects.flatMap((project) =>
    familyFolders.flatMap((folder) => {
      const path = `${dir}/${project}/${folder}`
      const names = fs.stat(path) ? (fs.readDir(path) ?? []) : []
      return names
        .filter((name) => name.endsWith('.git') && !name.startsWith('.'))
        .map((name) => `${path}/${name}`)
        .filter((gitdir) => fs.stat(gitdir)?.kind === 'folder')
    }),
  )
}
