import { expect } from 'chai'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { ScreenReader } from './support/screen-reader.ts'
import { type Visit, openWorkbench, type Workbench } from './support/workbench.ts'

describe('workbench: read out by a screen reader', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench()
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'capitals', name: 'Atlas', data: dataOf('Name the capital.') },
    })
    await bench.ask('POST', '/simple/testsets/', {
      testset: {
        slug: 'cities',
        data: {
          testcases: [{ data: { country: 'Norway', capital: 'Oslo' } }, { data: { country: 'Peru' } }],
        },
      },
    })
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  function dataOf(system: string, model = 'mock/examples') {
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: 'Of {{country}}?' },
    ]
    const prompt = { messages, llm_config: { model }, template_format: 'curly' }
    return { uri: 'svc:builtin:completion:v0', parameters: { prompt } }
  }
  const commit = (slug: string, system: string) =>
    bench.ask('POST', '/applications/revisions/commit', {
      application_revision_commit: { application_variant_ref: { slug }, data: dataOf(system) },
    })

  async function open(path: string, signedOut = false): Promise<Visit & { reader: ScreenReader }> {
    const visit = await bench.visit({ path, signedOut })
    return { ...visit, reader: await ScreenReader.of(visit.page) }
  }

  it('signs in, finds a prompt, reads it, edits and tries it, saves and deploys it', async () => {
    const { page, reader, go, close } = await open('/', true)
    const { keyboard } = page
    // Signing in: where one is, what is asked for, why it was refused.
    await reader.find('heading', 'Branchpoint')
    await reader.arrives('textbox', 'API key')
    await keyboard.type('svc_wrong')
    await reader.hears('unknown or revoked', () => keyboard.press('Enter'))
    const field = await reader.find('textbox', 'API key')
    expect(field.states['invalid']).to.equal('true')
    expect(field.description).to.contain('unknown or revoked')
    await keyboard.press('Control+a')
    await keyboard.type(bench.key)
    await keyboard.press('Enter')
    // The parts of the page, in order, and the way past the first one.
    await reader.find('navigation', 'Places')
    const parts = (await reader.all())
      .filter((it) => /^(?:navigation|banner|main)$/.test(it.role))
      .slice(0, 4)
    expect(parts.map(({ role, name }) => `${role} ${name}`.trim())).to.deep.equal([
      'navigation Places',
      'banner',
      'navigation Where you are',
      'main',
    ])
    // The way past the places, and to a prompt by its name.
    await reader.tabTo('link', 'Skip to the content')
    await keyboard.press('Enter')
    await reader.tabTo('searchbox', 'Search names, messages and texts')
    await reader.hears('1 found', () => keyboard.type('atlas'))
    await reader.tabTo('link', 'Atlas')
    await keyboard.press('Enter')
    await reader.arrives('heading', 'v1')
    await reader.tabTo('link', 'capitals')
    await keyboard.press('Enter')
    await reader.arrives('heading', 'capitals')
    // The messages of the prompt, each below the name of its role.
    await reader.reads('region', 'Prompt', /System Name the capital\..*User Of \{\{country\}\} ?\?/)
    const actions = (await reader.tabTo('link', /^Edit/)).slice(-5)
    expect(actions.map(({ name }) => name)).to.deep.equal([
      ...['More', 'Deploy …', 'Evaluate …', 'Try'],
      'Edit capitals',
    ])
    await keyboard.press('Enter')
    // Editing and trying: what is typed is named, and the answer is read out once it is there.
    await reader.find('textbox', 'Text of message 1, system')
    await reader.tabTo('textbox', 'Text of message 1, system')
    await keyboard.press('Control+End')
    await keyboard.type(' Be brief.')
    await reader.tabTo('textbox', 'country')
    await keyboard.type('Norway')
    await reader.hears(/done.* Of Norway\?/, () => keyboard.press('Control+Enter'))
    await keyboard.press('Control+s')
    await reader.find('dialog', 'Save version')
    expect((await reader.focused()).role, 'the dialog has the focus').to.equal('textbox')
    await keyboard.press('Control+Enter')
    await reader.arrives('heading', 'v2')
    // Deploying: the button says why it is off, and what was done is announced.
    await keyboard.press('d')
    await reader.find('dialog', 'Deploy capitals v2')
    const off = await reader.find('button', /^Deploy capitals v2.*Choose an environment/)
    expect(off.states['disabled']).to.equal(true)
    await reader.tabTo('combobox', 'Environment')
    await keyboard.type('prod')
    await reader.find('button', 'Deploy capitals v2 to production')
    await reader.tabTo('button', 'Deploy capitals v2 to production')
    await reader.hears('capitals v2 now runs in production', () => keyboard.press('Enter'))
    // Going back: the sheet has its name, and what was done is announced in it.
    await go('/a/capitals/v/capitals/1')
    await reader.find('button', 'More')
    await reader.tabTo('button', 'More')
    await keyboard.press('Enter')
    await reader.find('menuitem', /^Restore v1/)
    await keyboard.type('Restore')
    await keyboard.press('Enter')
    await reader.find('dialog', 'Restore v1 in capitals')
    await reader.find('button', 'Restore v1')
    await reader.hears('capitals is now v3', () => keyboard.press('Control+Enter'))
    await close()
  })

  it('hears why a run fails and what helps, reads and changes a cell, and resolves a conflict', async () => {
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'keyless', data: dataOf('Hi', 'mistral/ministral-3b-latest') },
    })
    const { page, reader, go, close } = await open('/a/keyless/edit/keyless')
    const { keyboard } = page
    await reader.find('button', 'Run')
    await reader.hears('MISTRAL_API_KEY', () => keyboard.press('Control+Enter'))
    await reader.tabTo('link', 'Add MISTRAL_API_KEY in Settings')

    // A cell: the name of its row and that of its column.
    await go('/t/cities')
    await reader.find('gridcell', 'Oslo')
    await reader.tabTo('gridcell', /./)
    await keyboard.press('ArrowDown')
    await keyboard.press('ArrowRight')
    await keyboard.press('ArrowRight')
    expect(await cellOf(reader)).to.deep.equal({ row: '2', column: 'capital', text: '' })
    await keyboard.type('Lima')
    await reader.hears('1 changed', () => keyboard.press('Enter'))
    await reader.hears('No changes', async () => {
      await keyboard.press('Control+s')
      await reader.find('dialog', 'Save version of cities')
      await keyboard.press('Control+Enter')
    })

    // A conflict: what it is about, both texts, and how many are left.
    await bench.ask('POST', '/variants/fork', {
      application_variant: { slug: 'brief' },
      application_variant_ref: { slug: 'capitals' },
    })
    await commit('capitals', 'Name the capital, politely.')
    await commit('brief', 'Name the capital in a word.')
    await go('/a/capitals/compare/v:capitals...v:brief')
    await reader.find('button', 'Resolve 1 conflict')
    await reader.tabTo('button', 'Resolve 1 conflict')
    await keyboard.press('Enter')
    await reader.reads('region', /^Conflict 1 of 1: /, /Current.*politely.*Incoming.*in a word/)
    await reader.find('button', /^Save merged version.*1 conflict/)
    await reader.hears('all decided', async () => {
      await reader.tabTo('button', /^Use incoming/)
      await keyboard.press('Enter')
    })
    await reader.tabTo('button', 'Save merged version')
    await reader.hears(/capitals is now v\d/, () => keyboard.press('Enter'))
    await close()
  })

  /** The current cell with the names of its row and of its column, as they are read out. */
  async function cellOf(reader: ScreenReader) {
    const [all, current] = [await reader.all(), await reader.focused()]
    const row = all.find(
      ({ role, children }) => role === 'row' && children.some(({ id }) => id === current.id),
    )
    const at = row?.children.findIndex(({ id }) => id === current.id) ?? -1
    const header = all.find(({ role, children }) => role === 'row' && children[0]?.role === 'columnheader')
    return { row: row?.children[0]?.name, column: header?.children[at]?.name, text: current.name }
  }
})
