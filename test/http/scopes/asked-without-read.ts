import type { RunningService } from '../../support/servers/service.ts'

/** Stands in everything that an administrator has stored. No name that an answer may show holds it. */
export const MARK = 'UNSEEN'

/** What a request names: an artifact, its variant and a revision of it. */
export interface Marked {
  readonly artifact: string
  readonly variant: string
  readonly revision: string
  /** A variant without revisions. */
  readonly empty: string
}

/** A surface with payloads whose every member is marked, and a change of them. */
export interface MarkedSurface {
  readonly singular: string
  readonly plural: string
  readonly data: object
  readonly delta: object
  readonly isDeployable: boolean
}

const workflowData = {
  parameters: { prompt: { messages: [{ role: 'system', content: MARK }] }, [MARK]: MARK },
  script: `// ${MARK}\nexport function evaluate() { return { success: true } }`,
  runtime: 'typescript',
  uri: 'svc:custom:code:v0',
  headers: { [MARK]: MARK },
}

const workflowLike = (singular: string): MarkedSurface => ({
  singular,
  plural: `${singular}s`,
  data: workflowData,
  delta: { set: { parameters: { n: 1 } } },
  isDeployable: true,
})

export const SURFACES: readonly MarkedSurface[] = [
  workflowLike('workflow'),
  workflowLike('application'),
  workflowLike('evaluator'),
  {
    singular: 'testset',
    plural: 'testsets',
    data: {
      testcases: [
        { data: { [MARK]: MARK, n: 1 }, flags: { a: true }, tags: { [MARK]: MARK }, meta: { [MARK]: MARK } },
      ],
    },
    delta: { rows: { add: [{ data: { n: 2 } }] }, columns: { add: ['more'] } },
    isDeployable: false,
  },
  {
    singular: 'environment',
    plural: 'environments',
    data: { references: { [MARK]: { workflow_revision: { slug: `${MARK}-1`, version: 1 } } } },
    delta: { set: { other: {} } },
    isDeployable: false,
  },
  {
    singular: 'query',
    plural: 'queries',
    data: { filtering: { conditions: [{ field: 'span_name', value: MARK }] } },
    delta: { set: { windowing: { limit: 5 } } },
    isDeployable: false,
  },
]

const headerOf = (word: string) => ({
  name: word,
  description: word,
  tags: { [word]: word },
  meta: { [word]: [word] },
})

/** An artifact of which everything that can be marked is: its own header, its variant's, two revisions' and what they hold. */
export async function marked(
  service: RunningService,
  { singular, plural, data }: MarkedSurface,
  slug: string,
  word = MARK,
): Promise<Marked> {
  const header = headerOf(word)
  const created = await service.post(`/simple/${plural}`, {
    [singular]: { slug, ...header, data, message: word },
  })
  const { id: artifact, variant_id: variant } = created.body[singular]
  await service.put(`/${plural}/variants/${variant}`, { [`${singular}_variant`]: header })
  const committed = await service.post(`/${plural}/revisions/commit`, {
    [`${singular}_revision_commit`]: { variant_id: variant, ...header, message: word, data },
  })
  const { body } = await service.post(`/${plural}/variants`, {
    [`${singular}_variant`]: { artifact_id: artifact, slug: `${slug}.empty`, ...header },
  })
  return {
    artifact,
    variant,
    revision: committed.body[`${singular}_revision`].id,
    empty: body[`${singular}_variant`].id,
  }
}

/** One request that a key without `read` may be let in with: as in the document, and as it is sent. */
export interface Asked {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly body?: object | string
  readonly headers?: Readonly<Record<string, string>>
  /** The status with which it is refused, where it cannot be done. */
  readonly refused?: number
}

/** What is asked of a surface: done, and refused for what is stored. */
export function askedOf(
  { singular, plural, delta, isDeployable }: MarkedSurface,
  it: Marked,
  unused: () => string,
): Asked[] {
  const [variant, revision, commit] = ['_variant', '_revision', '_revision_commit'].map(
    (level) => singular + level,
  )
  const post = (operation: string, path: string, body?: object): Asked => ({
    operation: `POST ${operation}`,
    method: 'POST',
    path,
    ...(body ? { body } : {}),
  })
  const put = (operation: string, path: string, body: object): Asked => ({
    operation: `PUT ${operation}`,
    method: 'PUT',
    path,
    body,
  })
  const switched = (operation: string, id: string): Asked[] =>
    ['archive', 'archive', 'unarchive'].map((action) =>
      post(`${operation}/{id}/${action}`, `${operation}/${id}/${action}`),
    )
  const inVariant = { variant_id: it.variant }
  return [
    post(`/${plural}`, `/${plural}`, { [singular]: { slug: unused() } }),
    put(`/${plural}/{id}`, `/${plural}/${it.artifact}`, { [singular]: { flags: {} } }),
    put(`/${plural}/{id}`, `/${plural}/${it.artifact}`, { [singular]: { flags: null } }),
    put(`/${plural}/variants/{id}`, `/${plural}/variants/${it.variant}`, { [`${variant}`]: {} }),
    put(`/simple/${plural}/{id}`, `/simple/${plural}/${it.artifact}`, { [singular]: {} }),
    post(`/${plural}/variants`, `/${plural}/variants`, {
      [`${variant}`]: { artifact_id: it.artifact, slug: unused() },
    }),
    post(`/${plural}/variants/fork`, `/${plural}/variants/fork`, {
      [`${variant}`]: { slug: unused() },
      [`${revision}_ref`]: { id: it.revision },
    }),
    post('/variants/fork', '/variants/fork', {
      [`${variant}`]: { slug: unused() },
      [`${revision}_ref`]: { id: it.revision },
    }),
    post(`/${plural}/variants/merge`, `/${plural}/variants/merge`, {
      source: { revision: { id: it.revision } },
      target: { variant: { id: it.variant } },
    }),
    ...['revert', 'cherry-pick'].map((action) =>
      post(`/${plural}/revisions/${action}`, `/${plural}/revisions/${action}`, {
        revision: { id: it.revision },
        target: { variant: { id: it.variant } },
      }),
    ),
    // Done …
    post(`/${plural}/revisions/commit`, `/${plural}/revisions/commit`, {
      [`${commit}`]: { ...inVariant, delta },
    }),
    post(`/${plural}/revisions/commit`, `/${plural}/revisions/commit?include_testcases=true`, {
      [`${commit}`]: { ...inVariant, delta },
    }),
    post(`/${plural}/revisions/restore`, `/${plural}/revisions/restore`, {
      revision: { id: it.revision },
      target: { variant: { id: it.variant } },
    }),
    // … and refused: not based on the latest, on a first one, by a wrong change, by a slug that is taken.
    ...[
      { delta, base_revision_id: it.revision },
      { delta: { set: { parameters: MARK.length }, rows: { remove: [it.artifact] } } },
      { delta: { set: { uri: 'none:such' } } },
      { delta, slug: 'taken' },
    ].map((more) =>
      post(`/${plural}/revisions/commit`, `/${plural}/revisions/commit`, {
        [`${commit}`]: { ...inVariant, ...more },
      }),
    ),
    post(`/${plural}/revisions`, `/${plural}/revisions`, { [`${revision}`]: { variant_id: it.empty } }),
    ...(isDeployable
      ? [
          post(`/${plural}/revisions/deploy`, `/${plural}/revisions/deploy`, {
            [`${revision}_ref`]: { id: it.revision },
            environment_ref: { slug: 'production' },
          }),
        ]
      : []),
    ...(singular === 'environment'
      ? ['guard', 'guard', 'unguard'].map((action) =>
          post(`/simple/${plural}/{id}/${action}`, `/simple/${plural}/${it.artifact}/${action}`),
        )
      : []),
    ...(singular === 'testset' ? uploadsOf(it) : []),
    post(`/simple/${plural}`, `/simple/${plural}`, { [singular]: { slug: unused() } }),
    ...switched(`/${plural}/revisions`, it.revision),
    ...switched(`/${plural}/variants`, it.variant),
    ...switched(`/${plural}`, it.artifact),
    ...switched(`/simple/${plural}`, it.artifact),
    put(`/simple/${plural}/{id}`, `/simple/${plural}/${it.artifact}`, { [singular]: { description: null } }),
    put(`/${plural}/{id}`, `/${plural}/${it.artifact}`, { [singular]: { tags: null } }),
    put(`/${plural}/variants/{id}`, `/${plural}/variants/${it.variant}`, { [`${variant}`]: { meta: null } }),
    // What is used stays.
    {
      operation: `DELETE /simple/${plural}/{id}`,
      method: 'DELETE',
      path: `/simple/${plural}/${it.artifact}`,
      refused: 409,
    },
    post(`/simple/${plural}/{id}/undelete`, `/simple/${plural}/${it.artifact}/undelete`),
  ]
}

/** A file that repeats a stored row by its id, and brings another. */
function uploadsOf(it: Marked): Asked[] {
  const rows = '{"n": 7}\n'
  const query = 'include_testcases=true&include_testcase_ids=true'
  return [
    ['/simple/testsets/upload', `/simple/testsets/upload?${query}`],
    ['/simple/testsets/{id}/upload', `/simple/testsets/${it.artifact}/upload?${query}`],
    [
      '/testsets/revisions/{id}/upload',
      `/testsets/revisions/${it.revision}/upload?${query}&variant_id=${it.variant}`,
    ],
  ].map(([operation, path]) => ({
    operation: `POST ${operation}`,
    method: 'POST',
    path: path ?? '',
    body: rows,
    headers: { 'content-type': 'application/x-ndjson' },
  }))
}
