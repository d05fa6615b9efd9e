import { Refusal } from '../../errors.ts'
import type { Fs } from '../../storage/files.ts'

/**
 * The folder of a repository in a project's folder; all paths with an artifact's slug are made here. Refuses with `damaged_repository` a
 * name that could lead elsewhere, or that looks like a folder of a repository being built. The rules for slugs that people choose are in
 * `registry`.
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
