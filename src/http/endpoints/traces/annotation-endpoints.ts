import { basename } from 'node:path/posix'
import { z } from 'zod'
import { principalOf } from '../../../access/keys.ts'
import { invalid, Refusal } from '../../../errors.ts'
import { type JsonObject, stringifyJson } from '../../../base/json.ts'
import type { AnnotationFilter, NewAnnotation, ProjectAnnotations } from '../../../feeds/traces.ts'
import type { Registry } from '../../../registry/registries.ts'
import { readRevisionAt, retrieveRevision } from '../../../registry/revisions.ts'
import { HandlerFailure } from '../../../run/handlers.ts'
import { outputsViolation } from '../../../run/invocation.ts'
import { type Call, type Endpoint, type EndpointResponse, endpoint } from '../../routing/endpoint.ts'
import { annotationRecord, presentAnnotation } from '../../schemas/annotation.ts'
import { queryFilters } from '../../schemas/queries/query-parameters.ts'
import { single } from '../../schemas/record-schemas.ts'
import { jsonObject, reference } from '../../schemas/request-schemas.ts'
import { envelope } from '../../schemas/spellings.ts'
import { presentWindow, spanId, traceId, traceList, traceWindowing } from '../../schemas/trace.ts'
import type { SurfaceContext } from '../../surface-context.ts'

/** Outputs are shown in lists, so they are short. */
const MOST_CHARACTERS = 64 * 1024

/** What people, and programs of theirs, say of traces (interface 12.18). */
export function annotationEndpoints(
  annotationsOf: (registry: Registry) => ProjectAnnotations,
  evaluators: SurfaceContext,
): Endpoint[] {
  const tag = 'annotations'
  const output = single('annotation', annotationRecord)
  const byId = { path: '/annotations/:id', params: z.object({ id: traceId }), tag, output } as const
  const { namesOf } = evaluators
  const answer = (
    registry: Registry,
    annotation: Parameters<typeof presentAnnotation>[0],
  ): EndpointResponse => ({
    body: { count: 1, annotation: presentAnnotation(annotation, namesOf(registry)) },
    address: { id: annotation.id },
  })

  return [
    endpoint({
      method: 'POST',
      path: '/annotations',
      tag,
      summary: 'Say something of a trace: a thumb, a note, or what an evaluator has a schema for',
      scope: 'annotate',
      orScope: 'write',
      input: envelope({ annotation: { names: ['annotation'], schema: sent, required: true } }),
      output,
      example: {
        annotation: {
          trace_id: '0af7651916cd43dd8448eb211c80319c',
          data: { outputs: { approved: true, comment: 'As it should be' } },
        },
      },
      run: async (call) => {
        const { registry, input, caller, context } = call
        const { trace_id: about, span_id: span, data, references } = input.annotation
        assertShort(data.outputs)
        const made = await annotationsOf(registry).add({
          id: context.artifactId?.replaceAll('-', ''),
          traceId: about,
          spanId: span,
          outputs: data.outputs,
          references: references ? await judgedBy(call, references, data.outputs) : NO_REFERENCES,
          by: principalOf(caller.key).id,
        })
        return answer(registry, made)
      },
      recall: async ({ registry }, { id }) => answer(registry, await annotationsOf(registry).get(id)),
    }),
    endpoint({
      method: 'POST',
      path: '/annotations/query',
      tag,
      summary: 'Annotations that are not retracted, newest first',
      scope: 'read',
      optionalBody: true,
      input: envelope({
        filter: { names: ['annotation'], schema: filter },
        windowing: { names: ['windowing'], schema: traceWindowing },
      }),
      fromQuery: queryFilters(['annotation'], []),
      output: traceList('annotations', annotationRecord),
      example: { annotation: { outputs: { approved: false } }, windowing: { limit: 20 } },
      run: async ({ registry, input, untilGone }) => {
        const { filter: asked = {}, windowing = {} } = input
        const { annotations, next } = await annotationsOf(registry).query(asked, windowing, untilGone())
        const names = namesOf(registry)
        return {
          body: {
            count: annotations.length,
            annotations: annotations.map((it) => presentAnnotation(it, names)),
            ...(next === undefined ? {} : { windowing: presentWindow({ ...windowing, next }) }),
          },
        }
      },
    }),
    endpoint({
      ...byId,
      method: 'GET',
      summary: 'The annotation of this id, also a retracted one',
      scope: 'read',
      run: async ({ registry, params }) =>
        answer(registry, await annotationsOf(registry).get(params['id'] ?? '')),
    }),
    endpoint({
      ...byId,
      method: 'DELETE',
      summary: 'Retract the annotation: lists, filters and columns leave it out',
      scope: 'annotate',
      orScope: 'write',
      run: async ({ registry, params }) =>
        answer(registry, await annotationsOf(registry).retract(params['id'] ?? '')),
    }),
  ]

  /** The references of the evaluator that they name, with whose schema the outputs agree. */
  async function judgedBy(
    { registry, untilGone }: Call<unknown>,
    named: z.infer<typeof evaluatorNamed>,
    outputs: JsonObject,
  ): Promise<NewAnnotation['references']> {
    const { surface } = evaluators
    const references = {
      artifact: named.evaluator,
      variant: named.evaluator_variant,
      revision: named.evaluator_revision,
    }
    const revision = await readRevisionAt(
      await retrieveRevision(registry, surface.family, references, surface),
    )
    const caller = { project: basename(registry.store.folder), untilGone, isPatient: false }
    const problem = await outputsViolation(revision, outputs, caller).catch((error: unknown) => {
      if (error instanceof HandlerFailure) return error.message
      throw error
    })
    if (problem !== undefined)
      throw invalid(
        ['body', 'annotation', 'data', 'outputs'],
        `do not fit the schema of "${revision.slug}": ${problem}`,
        'invalid_outputs',
      )
    const { artifact, variant, id, slug, version } = revision
    return new Map([
      ['evaluator', { id: artifact.id, slug: artifact.slug }],
      ['evaluator_variant', { id: variant.id, slug: variant.slug }],
      ['evaluator_revision', { id, slug, version }],
    ])
  }
}

const NO_REFERENCES: NewAnnotation['references'] = new Map()

const evaluatorNamed = z
  .object({
    evaluator: reference.optional(),
    evaluator_variant: reference.optional(),
    evaluator_revision: reference.optional(),
  })
  .meta({ description: 'The evaluator by whose schema for outputs they are checked.' })

const sent = z.object({
  trace_id: traceId,
  span_id: spanId.optional(),
  data: z.object({ outputs: jsonObject }),
  references: evaluatorNamed.optional(),
})

const filter = z
  .object({
    trace_id: traceId.optional(),
    evaluator: reference.optional(),
    outputs: jsonObject.optional().meta({ description: 'Values that the outputs have, at least.' }),
  })
  .transform(({ trace_id: about, ...others }): AnnotationFilter => ({ traceId: about, ...others }))

function assertShort(outputs: JsonObject): void {
  if (stringifyJson(outputs).length <= MOST_CHARACTERS) return
  throw new Refusal(
    'limit_exceeded',
    `The outputs have more than ${MOST_CHARACTERS} characters as JSON. Say it shorter, or link to what is long.`,
    { details: { limit: MOST_CHARACTERS } },
  )
}
