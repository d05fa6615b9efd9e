import { call } from './call.ts'

/** What has a name, a description and tags. */
export interface Headed {
  readonly family: 'workflows' | 'testsets' | 'queries' | 'environments'
  readonly id: string
  readonly slug: string
  readonly name?: string
  readonly description?: string
  readonly tags?: Readonly<Record<string, unknown>>
}

const ONE = { workflows: 'workflow', testsets: 'testset', queries: 'query', environments: 'environment' }

/** Edits a name, a description, tags or a folder. All families have a route of the same shape. */
export function editHeader({ family, id }: Pick<Headed, 'family' | 'id'>, header: object) {
  const route = `PUT /${family}/{id}` as 'PUT /workflows/{id}'
  return call(route, { path: { id }, body: { [ONE[family]]: header } as never })
}

/** The tags now: somebody else may have changed them since they were read. */
export async function tagsOf({ family, id }: Pick<Headed, 'family' | 'id'>) {
  const answer = await call(`GET /${family}/{id}` as 'GET /workflows/{id}', { path: { id } })
  return answer[ONE[family] as 'workflow'].tags ?? {}
}
