/** Where a repository is, in a store and in its backup alike: `<project>/<family>/<slug>.git`. */
export interface RepositoryName {
  readonly project: string
  /** The family's folder. */
  readonly family: string
  readonly slug: string
}

/** The name as people read it: `default/workflows/support-bot`. */
export function nameOf({ project, family, slug }: RepositoryName): string {
  return `${project}/${family}/${slug}`
}

/** The name as a path below a store or a backup. */
export function pathOfName(name: RepositoryName): string {
  return `${nameOf(name)}.git`
}
