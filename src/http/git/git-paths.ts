/**
 * OpenAPI paths for git over HTTP and for restoring a repository. They stream git's data, so they are not endpoints with schemas.
 * `gitSmartHttp` and `restoreBundle` answer them.
 */
export function gitPaths(): Readonly<Record<string, object>> {
  return {
    [`${REPOSITORY}/info/refs`]: {
      get: {
        ...operation('Clone, fetch or push: what there is', 'gitInfoRefs', `${FETCH_SCOPE} ${PUSH_SCOPE}`),
        parameters: [
          ...PARAMETERS,
          {
            name: 'service',
            in: 'query',
            required: true,
            schema: { type: 'string', enum: ['git-upload-pack', 'git-receive-pack'] },
          },
          {
            name: 'Git-Protocol',
            in: 'header',
            required: false,
            description: 'For a fetch: `version=2`.',
            schema: { type: 'string' },
          },
        ],
        responses: answers('What the repository has, as gitprotocol-http(5) says', {
          'application/x-git-upload-pack-advertisement': BYTES,
          'application/x-git-receive-pack-advertisement': BYTES,
        }),
      },
    },
    [`${REPOSITORY}/git-upload-pack`]: {
      post: {
        ...operation('Clone or fetch', 'gitUploadPack', `What git clone and git fetch ask. ${FETCH_SCOPE}`),
        requestBody: body('application/x-git-upload-pack-request', 'What the client has and wants.'),
        responses: answers('A pack', { 'application/x-git-upload-pack-result': BYTES }),
      },
    },
    [`${REPOSITORY}/git-receive-pack`]: {
      post: {
        ...operation(
          'Push: commit revisions, fork, tag',
          'gitReceivePack',
          `What git push sends. Each ref has an outcome of its own, and a sentence for the terminal where it is refused; when the ` +
            `answer comes, REST has the revisions. ${PUSH_SCOPE}`,
        ),
        requestBody: body('application/x-git-receive-pack-request', 'The refs to move, and a pack.'),
        responses: answers('What became of each ref', { 'application/x-git-receive-pack-result': BYTES }),
      },
    },
    [REPOSITORY]: {
      put: {
        ...operation(
          'Bring a whole repository back from a git bundle',
          'putGitRepository',
          'What `branchpoint restore --url` sends: every ref of the bundle, with its ids and records, is there afterwards. Needs a ' +
            'key with the scope `admin`.',
        ),
        parameters: [
          ...PARAMETERS,
          {
            name: 'head',
            in: 'query',
            required: true,
            description: 'The branch of the default variant.',
            schema: { type: 'string', pattern: '^refs/heads/' },
          },
        ],
        requestBody: body(
          'application/x-git-bundle',
          'As git bundle create writes it, refs/meta/artifact included.',
        ),
        responses: answers('Done', { 'application/json': RESTORED }),
      },
    },
  }
}

const REPOSITORY = '/git/{family}/{slug}.git'

/** `replaced`: it replaced a seeded environment; `there`: everything already existed. */
const RESTORED = {
  type: 'object',
  required: ['count', 'outcome'],
  properties: { count: { const: 1 }, outcome: { enum: ['restored', 'replaced', 'there'] } },
}

const FETCH_SCOPE = 'A fetch needs a key with the scope `read`.'
const PUSH_SCOPE = 'A push needs `write`, or `deploy` to an environment.'

const PARAMETERS = [
  {
    name: 'family',
    in: 'path',
    required: true,
    description: 'workflows (applications and evaluators are some), testsets, environments or queries.',
    schema: { type: 'string' },
  },
  { name: 'slug', in: 'path', required: true, description: "The artifact's.", schema: { type: 'string' } },
]

function operation(summary: string, operationId: string, description: string): object {
  return {
    tags: ['git'],
    summary,
    operationId,
    description,
    parameters: PARAMETERS,
    security: [{ Basic: [] }, { ApiKey: [] }],
  }
}

const BYTES = { type: 'string', format: 'binary' }

function body(type: string, description: string): object {
  return { required: true, description, content: { [type]: { schema: BYTES } } }
}

function answers(description: string, schemas: Readonly<Record<string, object>>): object {
  const content = Object.fromEntries(Object.entries(schemas).map(([type, schema]) => [type, { schema }]))
  return { 200: { description, content }, default: { $ref: '#/components/responses/Problem' } }
}
