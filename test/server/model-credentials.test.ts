import { expect } from 'chai'
import { environmentCredentials } from '../../src/run/models/model-endpoint.ts'
import { openSecrets } from '../../src/access/secrets/open-secrets.ts'
import type { ProjectSecrets } from '../../src/access/secrets/project-secrets.ts'
import { projectCredentials } from '../../src/server/workflow-runtime.ts'
import { memoryFs } from '../../src/storage/memory-fs.ts'

describe('model credentials of a project', () => {
  let secrets: ProjectSecrets
  beforeEach(() => {
    const fs = memoryFs()
    fs.makeDir('/store')
    secrets = openSecrets(fs, '/store', undefined).of('default')
  })

  const environment = environmentCredentials({
    OPENAI_API_KEY: 'env-key',
    OPENAI_BASE_URL: 'https://gateway.example/v1',
  })

  it('the secret of a provider comes before the configuration, which keeps its base URL', async () => {
    const credentials = projectCredentials(secrets, environment)
    expect(await credentials.ofProvider('openai')).to.deep.equal(environment.get('openai'))
    await secrets.set('OPENAI_API_KEY', 'own-key')
    expect(await credentials.ofProvider('openai')).to.deep.equal({
      apiKey: 'own-key',
      baseUrl: 'https://gateway.example/v1',
      mayBePrivate: true,
    })
    // Where a project says itself that its key is used, the operator has not.
    await secrets.set('OPENAI_API_KEY', 'own-key', { baseUrl: 'https://own.example' })
    expect(await credentials.ofProvider('openai')).to.deep.equal({
      apiKey: 'own-key',
      baseUrl: 'https://own.example',
    })
    await secrets.set('TOGETHER_AI_API_KEY', 'third')
    expect((await credentials.ofProvider('together_ai'))?.apiKey).to.equal('third')
    expect(await credentials.ofProvider('mistral')).to.equal(undefined)
  })

  it('connections are the secrets that were set with a provider', async () => {
    const credentials = projectCredentials(secrets, environment)
    await secrets.set('HOOK_TOKEN', 'not for models')
    await secrets.set('east', 'k', { provider: 'mistral', baseUrl: 'https://east.example' })
    expect(await credentials.names()).to.deep.equal(['east'])
    expect(await credentials.named('east')).to.deep.equal({
      apiKey: 'k',
      baseUrl: 'https://east.example',
      provider: 'mistral',
    })
    expect(await credentials.named('HOOK_TOKEN')).to.equal(undefined)
    expect(await credentials.named('nowhere')).to.equal(undefined)
  })
})
