import { handlerTable, workflowSurfaces } from '../../../src/run/handlers/workflows.ts'
import { expect } from 'chai'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { workflowDocumentOf } from '../../../src/registry/workflows/workflow-family.ts'
import { readerOf } from '../written-file.ts'

const servicesBase = 'http://127.0.0.1:3000/services'

const workflowDocument = workflowDocumentOf(handlerTable)

describe('workflow family', () => {
  it('names the seventeen flags of a revision in wire order', () => {
    expect([...workflowDocument.roles, ...workflowDocument.flagNames].join(' ')).to.equal(
      'is_application is_evaluator is_snippet is_managed is_custom is_llm is_hook is_code is_match is_feedback is_agent is_skill is_chat has_url has_script has_handler is_static',
    )
    expect(Object.keys(workflowDocument.flags(undefined))).to.deep.equal([...workflowDocument.flagNames])
  })

  it('brings a prompt through a commit, a delta and a read unchanged but for what was asked', async () => {
    const sent = parseJson(
      '{"parameters":{"prompt":{"messages":[{"role":"user","content":"{{q}}"}],"llm_config":{"temperature":0.10}}}}',
    )
    const { data } = await workflowDocument.accept(sent, { loc: ['body'], servicesBase })
    const files = workflowDocument.encode(data)
    expect(files.every(({ path }) => workflowDocument.ownsFile(path))).to.equal(true)
    const read = await workflowDocument.decode(readerOf(files))
    const delta = parseJson('{"set":{"parameters":{"prompt":{"llm_config":{"top_p":1}}}}}')
    const next = workflowDocument.applyDelta(read, delta, { loc: ['body'], servicesBase }).data
    expect(stringifyJson(workflowDocument.present(next, { servicesBase, revisionId: 'r' }))).to.equal(
      '{"parameters":{"prompt":{"messages":[{"role":"user","content":"{{q}}"}],"llm_config":{"temperature":0.10,"top_p":1}}}}',
    )
  })

  it('stores nothing of the read view when that is sent back', async () => {
    const { data } = await workflowDocument.accept({ uri: 'svc:builtin:chat:v0' }, { loc: [], servicesBase })
    const shown: JsonObject = workflowDocument.present(data, { servicesBase, revisionId: 'r' })
    expect(shown).to.have.property('url', `${servicesBase}/chat/v0/r`)
    expect((await workflowDocument.accept(shown, { loc: [], servicesBase })).data).to.deep.equal(data)
  })

  it('is seen through three surfaces, two of which fix a role of the family', () => {
    expect(
      workflowSurfaces.map(({ path, singular, plural, fixedFlags }) => [path, singular, plural, fixedFlags]),
    ).to.deep.equal([
      ['workflows', 'workflow', 'workflows', {}],
      ['applications', 'application', 'applications', { is_application: true }],
      ['evaluators', 'evaluator', 'evaluators', { is_evaluator: true }],
    ])
    for (const { family, fixedFlags } of workflowSurfaces) {
      expect(family.roles).to.include.members(Object.keys(fixedFlags))
    }
  })
})
