import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import type { Scope } from '../../../src/access/keys/scope.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import type { RunningService } from '../../support/servers/service.ts'

/** The headers of a new key that has these scopes and no others. */
export async function keyWithScopes(
  { storeDir }: RunningService,
  scopes: readonly Scope[],
): Promise<Record<string, string>> {
  const { token } = await createApiKey(nodeFs, storeDir, {
    project: 'default',
    name: `${scopes.join('-')}-${++made}`,
    scopes,
  })
  return { authorization: `ApiKey ${token}` }
}

/** Names of keys are unique in a project. */
let made = 0
