import { basename } from 'node:path/posix'
import { Refusal } from '../../errors.ts'
import type { Filling } from '../transactions/arbiter.ts'

export interface BroughtRepository {
  /** The folder of its family. */
  readonly folder: string
  readonly slug: string
}

/** A project whose repositories are still being copied from the database. */
export class ProjectFilling {
  readonly #filling: Filling
  readonly #project: string

  constructor(filling: Filling, project: string) {
    this.#filling = filling
    this.#project = project
  }

  /** Resolves when every repository has been copied. */
  get whole(): Promise<void> {
    return this.#filling.whole
  }

  /** The refusal of requests that need every repository. */
  refusal(): Refusal {
    const { there, of, problem } = this.#filling.progress()
    const why = problem === undefined ? '' : ` At the moment none comes: ${problem}`
    return new Refusal(
      'storage_unavailable',
      `This server is filling its folder from the database: it has ${there} of ${of} repositories, and this needs all of them. What is asked for ` +
        `by an id or a slug is answered meanwhile. Try again later, or ask another server.${why}`,
    )
  }

  /** Copies the repositories that claim a name (see NameClaim) if they are missing; answers all of them, including those in the trash. */
  async bring(name: string): Promise<readonly BroughtRepository[]> {
    const paths = await this.#filling.bring(this.#project, name)
    return paths.map((path) => {
      const [, folder = '', file = ''] = path.split('/')
      return { folder, slug: basename(file, '.git') }
    })
  }
}

/** Refuses with `storage_unavailable` while repositories of the project are missing, for requests that need all of them. */
export function assertWhole({ filling }: { readonly filling: ProjectFilling | undefined }): void {
  if (filling) throw filling.refusal()
}
