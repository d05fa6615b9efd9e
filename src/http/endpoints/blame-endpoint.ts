import { z } from 'zod'
import { invalid } from '../../errors.ts'
import { boundedText } from '../../base/json.ts'
import {
  decodeMessage,
  isoSeconds,
  type RevisionLocation,
  homeOf,
  readListedRevision,
  type BlamedLine,
  blameText,
  type PlacedText,
} from '../../registry/revisions.ts'
import { presentAuthor, presentVersion } from '../revisions/record.ts'
import type { Endpoint } from '../routing/endpoint.ts'
import { endpoint, named, revisionIn } from '../routing/endpoint.ts'
import { dottedParameters } from '../schemas/queries/query-parameters.ts'
import { gitId, shortRevision, timestamp } from '../schemas/record-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'

const MAX_LINES_PER_PAGE = 1000

/** `GET …/revisions/{id}/blame`: who wrote each line of a text (interface 6.13). */
export function blameEndpoint({ surface, present }: SurfaceContext): Endpoint {
  const { family, path, plural } = surface
  return endpoint({
    method: 'GET',
    path: `/${path}/revisions/:id/blame`,
    ...named,
    tag: plural,
    summary: `Who wrote each line of a text of the revision; the first ${MAX_LINES_PER_PAGE} lines`,
    scope: 'read',
    input: z.object({
      // Optional, so that the refusal can name the texts there are.
      place: z.string().max(10_000, 'must have at most 10000 characters').optional().meta({
        description:
          'The JSON Pointer of a text in data. Without it the answer is 422 and names those that there are.',
      }),
    }),
    fromQuery: dottedParameters([]),
    output: z.strictObject({
      count: z.int().min(0),
      lines: z.array(blamedLine),
      truncated: z.literal(true).optional(),
    }),
    run: async ({ registry, params, input, untilGone }) => {
      const place = await revisionIn(registry, family, params)
      const text = await textAt(place, input.place)
      const lines = await blameText(place, text, untilGone())
      const shown = lines.slice(0, MAX_LINES_PER_PAGE)
      const revisions = new Map<string, object | undefined>()
      const answered: object[] = []
      for (const [at, line] of shown.entries()) {
        if (!revisions.has(line.revision)) revisions.set(line.revision, await presentShort(place, line))
        answered.push({ line: at + 1, revision: revisions.get(line.revision), ...presentLine(line) })
      }
      const more = lines.length > shown.length ? { truncated: true as const } : {}
      return { body: { count: shown.length, lines: answered, ...more } }
    },
  })

  async function presentShort(
    { artifact }: RevisionLocation,
    { revision }: BlamedLine,
  ): Promise<object | undefined> {
    const home = await homeOf(artifact, revision)
    const read = home && (await readListedRevision(home))
    return read && { id: read.id, slug: read.slug, version: presentVersion(read.version, present) }
  }

  function presentLine({ text, oid, commit }: BlamedLine): object {
    const { message, subject } = decodeMessage(commit.message)
    return {
      text,
      commit: oid,
      author: presentAuthor(`${commit.author.name} <${commit.author.email}>`, present),
      date: isoSeconds(commit.committer.seconds),
      message: message ?? null,
      subject,
    }
  }
}

const blamedLine = z.strictObject({
  line: z.int().min(1),
  text: z.string(),
  /** The revision on the first-parent chain that brought the line; for merged lines, the merge. */
  revision: shortRevision.optional(),
  commit: gitId,
  author: z.string(),
  date: timestamp,
  message: z.string().nullable(),
  subject: z.string(),
})

const MAX_PLACES_NAMED = 50

/**
 * The text at a place of the revision's data. Refuses a missing or unknown place, naming the texts there are.
 */
async function textAt({ artifact, oid }: RevisionLocation, place: string | undefined): Promise<PlacedText> {
  const { family, repository } = artifact
  const { payload } = await artifact.revisions.read(repository.objects, oid)
  const texts = (payload && family.texts?.(payload)) ?? []
  const found = texts.find(({ pointer }) => pointer === place)
  if (found) return found
  const names = texts.slice(0, MAX_PLACES_NAMED).map(({ pointer }) => pointer)
  const more = texts.length > names.length ? ` and ${texts.length - names.length} more` : ''
  const remedy =
    names.length === 0
      ? 'It has no texts.'
      : `Its texts are at ${names.map((it) => boundedText(it, 200)).join(', ')}${more}.`
  if (place === undefined)
    throw invalid(
      ['query', 'place'],
      `this field is required: send the JSON Pointer of a text of this revision's data. ${remedy}`,
      'missing',
    )
  throw invalid(
    ['query', 'place'],
    `${JSON.stringify(boundedText(place, 200))} is the JSON Pointer of no text of this revision's data. ${remedy}`,
    'no_such_text',
  )
}
