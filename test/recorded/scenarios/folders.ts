import { get, post, put, type Scenario, type Step } from '../harness/scenario.ts'

/** Where artifacts lie, and how a folder is moved. */
export const folderScenarios: readonly Scenario[] = [{ name: 'folders', steps: () => folders() }]

function folders(): Step[] {
  return [
    post(
      'a prompt in a folder',
      '/simple/applications',
      { application: { slug: 'refunds', folder: 'support/tier-1', data: { parameters: { n: 1 } } } },
      { as: 'refunds' },
    ),
    post(
      'a testset beside it, in another spelling',
      '/testsets',
      { testset: { slug: 'rows', folder: 'Support' } },
      { as: 'rows' },
    ),
    post('a folder that is none', '/applications', { application: { slug: 'no', folder: 'a/../b' } }),
    post('an environment in a folder', '/environments', { environment: { slug: 'eu', folder: 'a' } }),
    get('the folders', '/folders'),
    post('what lies in one', '/testsets/query', { testset: { folder: 'support' } }),
    post('what lies below it', '/simple/applications/query', {
      application: { folder: 'SUPPORT', recursive: true },
    }),
    put('move one', '/testsets/rows', { testset: { folder: 'support/tier-2' } }),
    put('move it to the root', '/testsets/rows', { testset: { folder: null } }),
    post('move a folder', '/folders/move', { from: 'support', to: 'customers' }),
    post('move it again', '/folders/move', { from: 'support', to: 'customers' }),
    post('move one into itself', '/folders/move', { from: 'customers', to: 'customers/old' }),
    get('the folders afterwards', '/folders'),
    post('a key that is limited to one', '/keys', {
      key: { name: 'customers', scopes: ['read'], folders: ['customers/**'] },
    }),
    post('a limited key that may do everything', '/keys', {
      key: { name: 'all', scopes: ['admin'], folders: ['customers'] },
    }),
    post('a key that is limited to no folder', '/keys', {
      key: { name: 'none', scopes: ['read'], folders: ['**'] },
    }),
    post('move what a key is limited to', '/folders/move', { from: 'customers', to: 'clients' }),
    post('move it with the key', '/folders/move', {
      from: 'customers',
      to: 'clients',
      rename_in_keys: true,
    }),
    get('the key afterwards', '/keys'),
  ]
}
