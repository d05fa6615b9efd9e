import type { Fs } from './fs.ts'

/** The paths of all repositories of a store (design 1): `<dir>/<project>/<family folder>/<slug>.git`. */
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
