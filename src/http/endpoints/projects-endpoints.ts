import { z } from 'zod'
import {
  type Caller,
  createProject,
  DEFAULT_PROJECT,
  listApiKeys,
  MAX_PROJECT_NAME,
  principalOf,
  projectNames,
  projectRecords,
} from '../../access/keys.ts'
import { Refusal } from '../../errors.ts'
import { type Endpoint, endpoint, type EndpointResponse } from '../routing/endpoint.ts'
import { keyRecord } from '../schemas/key.ts'
import { list } from '../schemas/record-schemas.ts'
import { envelope } from '../schemas/spellings.ts'
import { type KeyPlace, presentKey } from './key-endpoints.ts'

/** `POST /projects` and `GET /projects`, for the admins of the project `default` (interface 14.6). */
export function projectsEndpoints({ fs, storeDir, now }: KeyPlace): Endpoint[] {
  const common = { path: '/projects', tag: 'projects', scope: 'admin' } as const
  /** The project whose first key has this id; undefined if it was not made yet. */
  const made = (keyId: string): EndpointResponse | undefined => {
    const project = projectRecords(fs, storeDir).find((it) => it.key_id === keyId)
    const key = project && listApiKeys(fs, storeDir, project.name).find(({ id }) => id === keyId)
    return project && key && answer(project.name, presentKey(key, NO_USES), keyId)
  }
  return [
    endpoint({
      ...common,
      method: 'POST',
      summary:
        'Make a project, with a first key that has every scope; the answer shows the key once, as "secret"',
      input: envelope({ project: { names: ['project'], schema: newProject, required: true } }),
      output: z.strictObject({ count: z.literal(1), project: projectName, key: keyRecord }),
      example: { project: { name: 'team' } },
      run: async ({ input, caller, context: { artifactId, attemptedAt } }) => {
        assertOfDefault(caller)
        const { name } = input.project
        const earlier = attemptedAt && artifactId !== undefined ? made(artifactId) : undefined
        if (earlier) return earlier
        const by = principalOf(caller.key).id
        const { key, token } = await createProject(fs, storeDir, { name, id: artifactId, by }, now())
        return answer(name, { ...presentKey(key, NO_USES), secret: token }, key.id)
      },
      // Secrets are not stored, so only the first answer contains one.
      recall: async (_call, { id }) => made(id) ?? gone(),
    }),
    endpoint({
      ...common,
      method: 'GET',
      summary: 'List the projects of the server by name',
      output: list('projects', projectName),
      run: ({ caller }) => {
        assertOfDefault(caller)
        const names = new Set([DEFAULT_PROJECT, ...projectNames(fs, storeDir)])
        const projects = [...names].sort().map((name) => ({ name }))
        return { body: { count: projects.length, projects } }
      },
    }),
  ]
}

const newProject = z.object({
  name: z
    .string()
    .regex(
      new RegExp(`^[A-Za-z0-9][A-Za-z0-9_-]{0,${MAX_PROJECT_NAME - 1}}$`),
      `must be 1 to ${MAX_PROJECT_NAME} letters, digits, "_" and "-", and begin with a letter or a digit`,
    ),
})

const projectName = z.strictObject({ name: z.string() })

/** A key that was just made was never used. */
const NO_USES: ReadonlyMap<string, string> = new Map()

function answer(name: string, key: object, keyId: string): EndpointResponse {
  return { body: { count: 1, project: { name }, key }, address: { id: keyId } }
}

function assertOfDefault({ project }: Caller): void {
  if (project === DEFAULT_PROJECT) return
  throw new Refusal(
    'missing_scope',
    `Projects are made and listed by an admin of the project "${DEFAULT_PROJECT}"; this key is of "${project}". Use a key of ` +
      `"${DEFAULT_PROJECT}".`,
  )
}

function gone(): never {
  throw new Refusal('key_not_found', 'The key that came with the project is not there any more.')
}
