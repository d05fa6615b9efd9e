import { basename } from 'node:path/posix'
import { Refusal } from '../errors.ts'
import type { Filling } from './transactions/arbiter.ts'

/** A repository of a project. */
export interface BroughtRepository {
  /** Of its family. */
  readonly folder: string
  readonly slug: string
}

/** A project of which not every repository is here yet. */
export class ProjectFilling {
  readonly #filling: Filling
  readonly #project: string

  constructor(filling: Filling, project: string) {
    this.#filling = filling
    this.#project = project
  }

  /** Resolves once every repository is here. */
  get whole(): Promise<void> {
    return this.#filling.whole
  }

  /** What whoever needs every repository is told. */
  refusal(): Refusal {
    const { there, of, problem } = this.#filling.progress()
    const why = problem === undefined ? '' : ` At the moment none comes: ${problem}`
    return new Refusal(
      'storage_unavailable',
      `This server is filling its folder from the database: it has ${there} of ${of} repositories, and this needs all of them. What is asked for ` +
        `by an id or a slug is answered meanwhile. Try again later, or ask another server.${why}`,
    )
  }

  /** Sees to it that the repositories that have a name (see NameClaim) are here, and answers which they are, also those in the trash. */
  async bring(name: string): Promise<readonly BroughtRepository[]> {
    const paths = await this.#filling.bring(this.#project, name)
    return paths.map((path) => {
      const [, folder = '', file = ''] = path.split('/')
      return { folder, slug: basename(file, '.git') }
    })
  }
}

/** Refuses with `storage_unavailable` while not every repository of a project is here, for whoever goes over them. */
export function assertWhole({ filling }: { readonly filling: ProjectFilling | undefined }): void {
  if (filling) throw filling.refusal()
}
