import { z } from 'zod'
import type { Config } from '../../../../config.ts'
import { Refusal } from '../../../../errors.ts'
import { slugProblem } from '../../../../versioning/slugs/slug.ts'
import type { Door } from './door.ts'
import { ask } from './door.ts'
import { familiesOf } from '../families-of.ts'
import { remoteRefs } from './remote-refs.ts'
import type { RepositoryName } from '../repository-name.ts'
import type { Source, SourceRepository } from './source.ts'

/** The project that a server shows the holder of a key with the scope read, as the backup calls it. */
export function httpSource(door: Door, project: string, settings: Config): Source {
  const { base, headers } = door
  // For git's requests to this server only, wherever it may send them on.
  const config = { [`http.${base}/.extraHeader`]: `Authorization: ${headers.authorization}` }
  const list = async (): Promise<SourceRepository[]> => {
    const found: SourceRepository[] = []
    const families = familiesOf(settings).map(({ folder }) => folder)
    for (const family of families) {
      for (const slug of await slugsOf(door, family)) {
        const problem = slugProblem(slug)
        if (problem !== undefined) {
          found.push(unbelieved({ project, family, slug }, problem, base))
          continue
        }
        const objects = { url: `${base}/git/${family}/${encodeURIComponent(slug)}.git`, config }
        const refs: SourceRepository['refs'] = () => remoteRefs(objects.url, door)
        found.push({ project, family, slug, objects, refs })
      }
    }
    for (const { repository, reason } of await unserved(door)) {
      const [family = '', slug = ''] = repository.split('/')
      if (slugProblem(slug) !== undefined || !families.includes(family)) continue
      // It is of this project only if it would be listed were it sound; its mirror, if there is one, is left as it is.
      found.push({
        project,
        family,
        slug,
        objects: { url: base },
        refs: () => Promise.reject(notServed(reason)),
      })
    }
    return found
  }
  return {
    name: `the server at ${base}`,
    projects: [project],
    isWhole: false,
    list,
    close: async () => undefined,
  }
}

/**
 * What a server calls an artifact becomes a folder here, so it has to be a slug (interface 4.7); what is none is told, and nothing is made.
 */
function unbelieved(name: RepositoryName, problem: string, base: string): SourceRepository {
  const slug = JSON.stringify(name.slug.slice(0, 100))
  const refusal = new Refusal(
    'invalid_file',
    `the server names an artifact that cannot be one: its slug ${problem}`,
  )
  return { ...name, slug, objects: { url: base }, refs: () => Promise.reject(refusal) }
}

/** Artifacts asked for at once. */
const PAGE = 100

/** Every slug of a family, archived ones too, oldest first. */
async function slugsOf(door: Door, family: string): Promise<string[]> {
  const slugs: string[] = []
  const page = z.object({
    [family]: z.array(z.object({ slug: z.string() })),
    windowing: z.object({ next: z.string() }).optional(),
  })
  for (let next: string | undefined; ;) {
    const windowing = { limit: PAGE, order: 'ascending', ...(next === undefined ? {} : { next }) }
    const body = JSON.stringify({ include_archived: true, windowing })
    const answer = page.parse(await ask(door, 'POST', `/${family}/query`, body))
    // The key is one of the schema's own, an array of records.
    for (const { slug } of answer[family] as { slug: string }[]) slugs.push(slug)
    next = (answer.windowing as { next: string } | undefined)?.next
    if (next === undefined) return slugs
  }
}

const readiness = z.object({ damaged: z.array(z.object({ repository: z.string(), reason: z.string() })) })

/** The repositories that the server has and cannot serve. */
async function unserved(door: Door): Promise<z.infer<typeof readiness>['damaged']> {
  return readiness.parse(await ask(door, 'GET', '/ready')).damaged
}

function notServed(reason: string): Refusal {
  return new Refusal('damaged_repository', `the server does not serve it: ${reason}`)
}
