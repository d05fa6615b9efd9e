import { z } from 'zod'
import { Refusal, invalid } from '../../errors.ts'
import {
  type FileType,
  FILE_TYPES,
  writeTestsetFile,
  type TestsetLimits,
  asStored,
  type Uploaded,
  commitFile,
  createFromFile,
} from '../../registry/testsets.ts'
import { editArtifact, flatten, madeArtifactWarnings } from '../../registry/artifacts.ts'
import {
  assertRevisionActive,
  type CommittedRevision,
  artifactById,
  type Revision,
  type RevisionLocation,
  readRevisionAt,
} from '../../registry/revisions.ts'
import type { Reading } from '../../registry/families.ts'
import type { Registry } from '../../registry/registries.ts'
import type { ResultAddress } from '../../access/keys.ts'
import {
  fileFields,
  ifChangedField,
  parentsOfFields,
  parentTextFields,
  readingOfFields,
  rowFileOf,
  testsetFields,
} from '../body/upload-fields.ts'
import { presentFlat } from '../revisions/record.ts'
import { variantBeside, recalledCommit, recalledPlace, toldOfCommit, unchangedOf } from './commit-endpoint.ts'
import { readIfMatch } from '../routing/send.ts'
import { RevisionResponses } from '../revisions/revision-responses.ts'
import {
  type EndpointResponse,
  type Call,
  type Endpoint,
  artifactIn,
  endpoint,
  named,
  revisionIn,
  uploadEndpoint,
} from '../routing/endpoint.ts'
import { queryParameters } from '../schemas/queries/query-parameters.ts'
import { rowCounts, single, warning } from '../schemas/record-schemas.ts'
import { slug } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** The media type of each file type. */
const MEDIA = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  jsonl: 'application/x-ndjson; charset=utf-8',
} as const

/** Files into testsets and out of them (interface 8.16). */
export function testsetFileEndpoints(context: SurfaceContext, limits: TestsetLimits): Endpoint[] {
  const { surface, names, present, records } = context
  const { family, singular, path, plural } = surface
  const answers = new RevisionResponses(surface, present)
  const simpleTag = `simple ${plural}`

  const answerFlat = async (
    registry: Registry,
    id: string,
    place: RevisionLocation | undefined,
    asked: Reading,
    file: ResultAddress['file'],
  ) => {
    const artifact = await artifactById(registry, family, id)
    const revision = place ? await readRevisionAt(place) : (await flatten(artifact)).revision
    const flat = { artifact, revision }
    return {
      body: { count: 1, [singular]: await presentFlat(flat, present, asked), ...presentFile(file) },
      address: { id: artifact.id, ...(revision ? { revision: revision.id } : {}), ...(file && { file }) },
    }
  }

  /** The same for a new testset, with warnings about its slug. */
  const answerMade: typeof answerFlat = async (registry, id, ...rest) => {
    const { body, address } = await answerFlat(registry, id, ...rest)
    const warnings = await madeArtifactWarnings(registry, await artifactById(registry, family, id))
    return { body: { ...body, ...(warnings.length > 0 ? { warnings } : {}) }, address }
  }

  const answerUpload = async (
    registry: Registry,
    committed: CommittedRevision,
    input: { readonly if_changed?: boolean | undefined },
    file: ResultAddress['file'],
  ): Promise<EndpointResponse> => {
    const told = await toldOfCommit(registry, committed, { ifChanged: input.if_changed }, present)
    const more = { ...told, ...presentFile(file) }
    const answer = await answers.made(committed.revision, readingOfFields(input), more)
    const { id } = committed.revision
    return { ...answer, address: { id, ...unchangedOf(committed), ...(file && { file }) } }
  }

  const downloads = (
    route: string,
    tag: string,
    defaultName: (revision: Revision) => string,
    revisionOf: (registry: Registry, params: Call<unknown>['params']) => Promise<Revision>,
  ): Endpoint[] =>
    (['POST', 'GET'] as const).map((method) =>
      endpoint({
        method,
        path: route,
        ...named,
        tag,
        summary: 'The rows as a file: file_type csv (the default), json or jsonl',
        scope: 'read',
        optionalBody: true,
        input: downloadInput,
        fromQuery: queryParameters(['file_type', 'file_name', 'escape_formulas', 'bom']),
        output: z.unknown(),
        downloads: Object.values(MEDIA),
        run: async ({ registry, params, input, untilGone }) => {
          const revision = await revisionOf(registry, params)
          return answerFile(revision, input, defaultName(revision), untilGone())
        },
      }),
    )

  return [
    uploadEndpoint({
      path: `/simple/${path}/upload`,
      tag: simpleTag,
      summary: 'Create a testset whose first revision holds the rows of a file',
      scope: 'write',
      input: z.object({ ...fileFields, ...testsetFields, testset_slug: slug.optional() }),
      output: single(singular, records.flat, { ...fileOutcome, warnings: z.array(warning).optional() }),
      run: async ({ registry, input, upload, context: write, untilGone }) => {
        const { artifact, file } = await createFromFile(
          registry,
          family,
          rowFileOf(input, upload),
          {
            slug: input.testset_slug,
            folder: input.testset_folder,
            header: headerIn(input),
            message: input.message,
            loc: ['body', 'testset_slug'],
          },
          limits,
          write,
          untilGone(),
        )
        return answerMade(registry, artifact.id, undefined, readingOfFields(input), outcomeOf(file))
      },
      recall: async ({ registry, input }, address) => {
        const place = await recalledPlace(registry, family, address)
        return answerMade(registry, address.id, place, readingOfFields(input), address.file)
      },
    }),
    uploadEndpoint({
      path: `/simple/${path}/:id/upload`,
      ...named,
      tag: simpleTag,
      summary: 'Commit the rows of a file in place of the present ones, and edit the header',
      scope: 'write',
      input: z.object({ ...fileFields, ...testsetFields, ...ifChangedField }),
      output: single(singular, records.flat, { changed: z.boolean().optional(), ...fileOutcome }),
      run: async ({ registry, params, input, upload, context: write, untilGone }) => {
        const artifact = await artifactIn(registry, family, params)
        const committed = await commitFile(
          registry,
          { artifact, variant: artifact.defaultVariant },
          rowFileOf(input, upload),
          { header: {}, message: input.message, loc: ['body'], ifChanged: input.if_changed },
          limits,
          write,
          untilGone(),
        )
        const edit = { ...headerIn(input), folder: input.testset_folder }
        if (Object.values(edit).some((value) => value !== undefined))
          await editArtifact(registry, committed.revision.artifact, edit, write)
        const file = outcomeOf(committed.file)
        const reading = readingOfFields(input)
        const { body, address } = await answerFlat(registry, artifact.id, undefined, reading, file)
        return {
          body: { ...body, ...(input.if_changed && { changed: committed.changed }) },
          address: { ...address, ...unchangedOf(committed) },
        }
      },
      recall: async ({ registry, input }, address) => {
        const place = await recalledPlace(registry, family, address)
        const { id, file, unchanged } = address
        const { body } = await answerFlat(registry, id, place, readingOfFields(input), file)
        return { body: { ...body, ...(input.if_changed && { changed: !unchanged }) } }
      },
    }),
    uploadEndpoint({
      path: `/${path}/revisions/:id/upload`,
      ...named,
      tag: plural,
      summary: "Commit the rows of a file on the revision's variant, after its head",
      scope: 'write',
      input: z.object({
        ...fileFields,
        ...parentTextFields(names),
        ...ifChangedField,
        message: z.string().optional(),
      }),
      output: single(`${singular}_revision`, records.revision, {
        changed: z.boolean().optional(),
        ...fileOutcome,
      }),
      run: async ({
        registry,
        params,
        input,
        upload,
        headers: { 'if-match': ifMatch },
        context: write,
        untilGone,
      }) => {
        const place = await revisionIn(registry, family, params)
        assertRevisionActive(place)
        const committed = await commitFile(
          registry,
          await variantBeside(registry, place, parentsOfFields(names, input)),
          rowFileOf(input, upload),
          {
            header: {},
            message: input.message,
            ifMatch: ifMatch === undefined ? undefined : readIfMatch(ifMatch),
            ifChanged: input.if_changed,
            loc: ['body'],
          },
          limits,
          write,
          untilGone(),
        )
        return answerUpload(registry, committed, input, outcomeOf(committed.file))
      },
      recall: async ({ registry, input }, address) => {
        const committed = await recalledCommit(registry, family, address)
        return answerUpload(registry, committed, input, address.file)
      },
    }),
    ...downloads(
      `/${path}/revisions/:id/download`,
      plural,
      ({ slug: name }) => name,
      async (registry, params) => readRevisionAt(await revisionIn(registry, family, params)),
    ),
    ...downloads(
      `/simple/${path}/:id/download`,
      simpleTag,
      ({ artifact }) => artifact.slug,
      async (registry, params) => {
        const artifact = await artifactIn(registry, family, params)
        const { revision } = await flatten(artifact)
        if (revision) return revision
        throw new Refusal(
          'revision_not_found',
          `The testset "${artifact.slug}" has no revision yet to download.`,
        )
      },
    ),
  ]
}

const LONGEST_NAME = 200

const choice = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')])

const downloadInput = z.object({
  file_type: z.enum(FILE_TYPES, `must be one of ${FILE_TYPES.join(', ')}`).optional(),
  // It goes into a header, whose length clients limit.
  file_name: z.string().max(LONGEST_NAME, `must have at most ${LONGEST_NAME} characters`).optional(),
  escape_formulas: choice.optional(),
  bom: choice.optional(),
})

function answerFile(
  { artifact, stored }: Revision,
  {
    file_type: type = 'csv',
    file_name: name,
    escape_formulas: escapeFormulas = false,
    bom = false,
  }: Call<z.infer<typeof downloadInput>>['input'],
  defaultName: string,
  gone: AbortSignal,
): EndpointResponse {
  if (bom && type !== 'csv')
    throw invalid(['body', 'bom'], `a byte order mark is for spreadsheets that read CSV; ${type} has none.`)
  if (stored.damage) throw stored.damage
  const testset = stored.payload ? asStored(stored.payload) : NO_ROWS
  const source = artifact.repository.objects
  return {
    stream: writeTestsetFile({ source, testset, testsetId: artifact.id, type, escapeFormulas, bom, gone }),
    contentType: MEDIA[type],
    fileName: fileNameOf(name || defaultName, type),
  }
}

const NO_ROWS = { kind: 'stored', tree: undefined, columns: [] } as const

/** The name with the extension of its type, exactly once. */
function fileNameOf(name: string, type: FileType): string {
  return name.toLowerCase().endsWith(`.${type}`) ? name : `${name}.${type}`
}

/** The facts about an uploaded file in the answer. */
const fileOutcome = {
  ...rowCounts,
  renamed_columns: z
    .array(z.object({ from: z.string(), to: z.string() }))
    .optional()
    .describe('Columns whose names are not as they stand in the file'),
}

function outcomeOf({ met, renamed }: Uploaded['file']): ResultAddress['file'] {
  return { ...met, ...(renamed.length > 0 && { renamed: [...renamed] }) }
}

/** If a write's result was found after a crash, only its ids are known. */
function presentFile(file: ResultAddress['file']) {
  return file && { collapsed: file.collapsed, replaced: file.replaced, renamed_columns: file.renamed }
}

function headerIn(fields: {
  readonly testset_name?: string | undefined
  readonly testset_description?: string | undefined
  readonly testset_tags?: ReturnType<(typeof testsetFields)['testset_tags']['parse']>
  readonly testset_meta?: ReturnType<(typeof testsetFields)['testset_meta']['parse']>
}) {
  return {
    name: fields.testset_name,
    description: fields.testset_description,
    tags: fields.testset_tags,
    meta: fields.testset_meta,
  }
}
