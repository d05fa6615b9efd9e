import { expect } from 'chai'
import type { ServerResponse } from 'node:http'
import { eventually } from '../http/environments/environment-client.ts'
import { closeBrowser } from '../support/browser/open-browser.ts'
import {
  type ChatReaction,
  type ChatStub,
  event,
  finished,
  refusing,
  startChatStub,
  streaming,
  text,
} from '../support/servers/chat-stub.ts'
import { keysOf } from './support/keys.ts'
import { openWorkbench, type Workbench } from './support/workbench.ts'

describe('workbench: playground', () => {
  let stub: ChatStub
  let bench: Workbench
  before(async () => {
    stub = await startChatStub()
    bench = await openWorkbench({ OPENAI_BASE_URL: stub.url, MODEL_MAX_RETRIES: '0' })
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
    await stub.stop()
  })

  async function makePrompt(slug: string, content: string, model: string, handler = 'completion') {
    const messages = [{ role: 'user', content }]
    await bench.ask('POST', '/simple/applications/', {
      application: {
        slug,
        data: {
          uri: `svc:builtin:${handler}:v0`,
          parameters: { prompt: { messages, llm_config: { model }, template_format: 'curly' } },
        },
      },
    })
  }

  async function commit(slug: string, content: string): Promise<void> {
    await bench.ask('POST', '/applications/revisions/commit', {
      application_revision_commit: {
        application_variant_ref: { slug },
        delta: { set: { parameters: { prompt: { messages: [{ role: 'user', content }] } } } },
      },
    })
  }

  const headOf = async (slug: string, variant = slug) =>
    (
      await bench.ask('POST', '/workflows/revisions/retrieve', {
        workflow_ref: { slug },
        workflow_variant_ref: { slug: variant },
      })
    )['workflow_revision']

  it('shows four columns on one input, marks differences, edits one and saves it, and keeps all in the address', async () => {
    await makePrompt('compare', 'Say {{word}}', 'mock/examples')
    await bench.ask('POST', '/applications/revisions/deploy', {
      application_ref: { slug: 'compare' },
      environment_ref: { slug: 'production' },
    })
    await commit('compare', 'Say {{word}} twice')
    const visit = await bench.visit({ path: '/a/compare/run' })
    const { page } = visit
    const column = (number: number) => page.getByRole('region', { name: new RegExp(`^Column ${number}\\b`) })
    const act = async (number: number, name: string): Promise<void> => {
      await page.getByRole('button', { name: `Actions of column ${number}` }).click()
      await page.getByRole('menuitem', { name }).click()
    }
    await page.getByLabel('word').fill('hello')
    await act(1, 'Duplicate')
    await column(2).getByLabel('Version', { exact: true }).selectOption('1')
    await act(2, 'Edit here')
    const message = column(2).getByRole('textbox', { name: 'Text of message 1, user' })
    await message.click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type(' slowly')
    await column(2).getByText('Changed since v1').waitFor()
    await act(2, 'Duplicate')
    await page.getByRole('button', { name: 'Add a column' }).click()
    await column(4).getByLabel('Version', { exact: true }).selectOption('1')
    expect(await page.getByRole('button', { name: /^Add a column/ }).getAttribute('aria-disabled')).to.equal(
      'true',
    )
    await page.keyboard.press('Control+Enter')
    for (const [number, said] of ['Say hello twice', 'Say hello slowly', 'Say hello slowly'].entries())
      await column(number + 1)
        .getByRole('region', { name: 'Output' })
        .getByText(said, { exact: true })
        .waitFor()
    await page.getByRole('button', { name: 'Mark differences' }).click()
    await column(2).getByText('Differs from the first column').waitFor()
    expect(await column(2).locator('mark').first().textContent()).to.equal('slowly')
    expect(await column(2).locator('del').first().textContent()).to.equal('twice')
    expect(await column(4).getByText('Differs from the first column').count()).to.equal(1)
    await visit.expectNoBarriers()
    await visit.picture('playground-1440')
    expect(new URL(page.url()).searchParams.get('columns')).to.equal('v:,d:compare~2,d:compare~3,v:compare@1')

    await page.reload()
    await column(3).getByText('Changed since v1').waitFor()
    expect(await page.getByLabel('word').inputValue()).to.equal('hello')
    await act(3, 'New variant…')
    await page.getByLabel('Name of the new variant').fill('slow')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('heading', { name: 'slow v2' }).waitFor()
    const saved = await headOf('compare', 'slow')
    expect(saved.data.parameters.prompt.messages).to.deep.equal([
      { role: 'user', content: 'Say {{word}} slowly' },
    ])
    expect((await headOf('compare')).version).to.equal(2)
    await act(4, 'New variant…')
    await page.getByLabel('Name of the new variant').fill('old')
    await page.getByRole('button', { name: 'Make the variant' }).click()
    await page.getByRole('heading', { name: 'old v1' }).waitFor()
    // What runs in production, whichever version that is.
    await column(4).getByLabel('Version', { exact: true }).selectOption('in production: v1')
    await page.getByRole('heading', { name: 'production v1' }).waitFor()
    expect(new URL(page.url()).searchParams.get('columns')).to.match(/,e:production$/)
    await visit.close()
  })

  it('runs the rows of a testset in columns, says first how many calls that is, and stops', async () => {
    await makePrompt('rows', 'Say {{word}}', 'gpt-4o')
    await commit('rows', 'Shout {{word}}')
    const testcases = Array.from({ length: 12 }, (_, at) => ({ data: { word: `word ${at + 1}` } }))
    await bench.ask('POST', '/simple/testsets/', { testset: { slug: 'words', data: { testcases } } })
    const visit = await bench.visit({ path: '/a/rows/run?columns=v:rows,v:rows@1&testset=words' })
    const { page } = visit
    const keys = await keysOf(page)
    const before = stub.received.length
    await page.getByRole('button', { name: 'Up to 50 rows' }).click()
    const table = page.getByRole('region', { name: 'Table of outputs' })
    const run = page.getByRole('button', { name: 'Run 12 rows · 24 calls' })
    // A reply that never ends, after a few that do.
    const held: ServerResponse[] = []
    stub.answerNext(
      ...Array.from({ length: 6 }, (_, at) => streaming([{ role: 'assistant', content: `Reply ${at}` }])),
      refusing(400, 'This row is <b>wrong</b>'),
      ...Array.from({ length: 4 }, () => (response: ServerResponse) => void held.push(response)),
    )
    await run.click()
    await table.getByText('Reply 5', { exact: true }).waitFor()
    await table.getByText('This row is <b>wrong</b>').waitFor()
    await page.getByText('Calls: 7 of 24').waitFor()
    await eventually(async () => held.length === 4, 'four calls wait at the provider')
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('24 calls ended, 1 with an error').waitFor()
    await eventually(async () => held.every(({ destroyed }) => destroyed), 'the provider’s calls end')
    // Nothing was asked after the stop, which is what it is for.
    expect(stub.received.length - before).to.equal(11)
    await page.getByRole('button', { name: 'Mark differences' }).click()
    const cells = (row: number) => table.getByRole('row').nth(row).getByRole('cell')
    const replyOf = (text: string | null) => /Reply \d/.exec(text ?? '')?.[0]
    const reply = replyOf(await cells(1).first().textContent())
    await cells(1).nth(1).getByText('Differs from the first column').waitFor()
    expect(await cells(1).nth(1).locator('del').allTextContents()).to.deep.equal([reply?.slice(-1)])
    expect(await cells(1).nth(1).locator('mark').count()).to.equal(1)
    expect(await cells(1).first().locator('mark, del').count()).to.equal(0)
    await page.getByRole('button', { name: 'Mark differences' }).click()
    const other = replyOf(await cells(2).nth(1).textContent())
    await visit.expectNoBarriers()
    // Every output can be kept, by keys and by the mouse.
    const dialog = page.getByRole('dialog', { name: 'Keep as row' })
    await keys.press(cells(1).getByRole('button', { name: 'Keep as row… row 1 of rows v2' }))
    await dialog.getByText(`"${reply}"`).waitFor()
    await keys.press(dialog.getByRole('button', { name: 'Add the row' }))
    await page.getByText(/Row added: words is now at v2/).waitFor()
    await keys.expectFocus(cells(1).getByRole('button', { name: 'Keep as row… row 1 of rows v2' }))
    await cells(2).getByRole('button', { name: 'Keep as row… row 2 of rows v1' }).click()
    await dialog.getByLabel('Column for the output').fill('shouted')
    await dialog.getByRole('button', { name: 'Add the row' }).click()
    await page.getByText(/Row added: words is now at v3/).waitFor()
    const { testset_revision: kept } = await bench.ask('POST', '/testsets/revisions/retrieve', {
      testset_ref: { slug: 'words' },
    })
    const [one, two] = kept.data.testcases.slice(12).map((it: any) => it.data)
    expect(one).to.include({ word: 'word 1', expected_answer: reply })
    expect(two).to.include({ word: 'word 2', shouted: other })
    await visit.go('/a/rows/run?testset=words&row=7')
    await page.getByText('row 7 of 14').waitFor()
    await page.getByRole('combobox', { name: 'Row', exact: true }).fill('word 1')
    await page.getByRole('option', { name: 'word: word 12' }).click()
    await page.getByText('row 12 of 14').waitFor()
    await eventually(async () => (await page.getByLabel('word').inputValue()) === 'word 12', 'the row')
    await visit.close()
  })

  it('saves the draft of a column as a version, also where the head moved meanwhile', async () => {
    await makePrompt('saves', 'Say {{word}}', 'mock/examples')
    const visit = await bench.visit({ path: '/a/saves/run?columns=v:saves,d:saves' })
    const { page } = visit
    const column = page.getByRole('region', { name: /^Column 2\b/ })
    const edit = async (text: string): Promise<void> => {
      await column.getByRole('textbox', { name: 'Text of message 1, user' }).click()
      await page.keyboard.press('Control+End')
      await page.keyboard.type(text)
      await column.getByText(/^Changed since/).waitFor()
      await page.getByRole('button', { name: 'Actions of column 2' }).click()
      await page.getByRole('menuitem', { name: 'Save version…' }).click()
      await page.getByLabel('Message', { exact: true }).fill(`Said${text}`)
    }
    await edit(' twice')
    await page.keyboard.press('Control+Enter')
    await column.getByRole('heading', { name: 'saves v2' }).waitFor()
    const saved = await headOf('saves')
    expect(saved).to.include({ version: 2, message: 'Said twice' })
    expect(saved.data.parameters.prompt.messages[0].content).to.equal('Say {{word}} twice')

    await column.getByLabel('Version', { exact: true }).selectOption('draft')
    await edit(' slowly')
    await bench.ask('POST', '/applications/revisions/commit', {
      application_revision_commit: {
        application_variant_ref: { slug: 'saves' },
        delta: { set: { parameters: { prompt: { llm_config: { model: 'mock/examples', top_p: 0.5 } } } } },
      },
    })
    await page.keyboard.press('Control+Enter')
    const sheet = page.getByRole('dialog', { name: 'saves is now at v3' })
    await sheet.getByText('1 message changed').waitFor()
    expect((await headOf('saves')).version, 'nothing is overwritten').to.equal(3)
    await sheet.getByRole('button', { name: 'Merge my changes into v3' }).click()
    await column.getByRole('heading', { name: 'saves v4' }).waitFor()
    const { prompt } = (await headOf('saves')).data.parameters
    expect(prompt.messages[0].content).to.equal('Say {{word}} twice slowly')
    expect(prompt.llm_config.top_p).to.equal(0.5)
    await visit.close()
  })

  it('keeps an output as a row of a testset, with its inputs', async () => {
    await makePrompt('keeps', 'Capital of {{country}}?', 'gpt-4o')
    await bench.ask('POST', '/simple/testsets/', {
      testset: {
        slug: 'capitals',
        data: { testcases: [{ data: { country: 'Peru', capital: 'Lima' } }] },
      },
    })
    stub.answerNext(streaming([{ role: 'assistant', content: 'Pa' }, { content: 'ris' }]))
    const visit = await bench.visit({ path: '/a/keeps/edit/keeps' })
    const { page } = visit
    await page.getByLabel('country').fill('France')
    await page.keyboard.press('Control+Enter')
    const output = page.getByRole('region', { name: 'Output' })
    await output.getByText('Paris', { exact: true }).waitFor()
    await output.getByText('18 tokens').waitFor()
    // 11 tokens at 2.5 and 7 at 10 dollars a million.
    await output.getByText('$0.000097').waitFor()
    await page.getByRole('button', { name: 'Keep as row…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Keep as row' })
    await dialog.getByRole('combobox', { name: 'Testset' }).fill('capitals')
    await page.getByRole('option', { name: 'capitals' }).click()
    await eventually(
      async () => (await dialog.getByLabel('Column for the output').inputValue()) === 'capital',
      'the column of the testset',
    )
    await visit.expectNoBarriers()
    await dialog.getByRole('button', { name: 'Add the row' }).click()
    await page.getByText(/Row added: capitals is now at v2/).waitFor()
    const { testset_revision: kept } = await bench.ask('POST', '/testsets/revisions/retrieve', {
      testset_ref: { slug: 'capitals' },
    })
    expect(kept.data.testcases[1].data).to.include({ country: 'France', capital: 'Paris' })
    await visit.close()
  })

  it('leads a conversation: an answer and the next message become its input', async () => {
    await makePrompt('chat', 'You are {{who}}.', 'gpt-4o', 'chat')
    const visit = await bench.visit({ path: '/a/chat/edit/chat' })
    const { page } = visit
    await page.getByLabel('who').fill('a pirate')
    await page.getByRole('button', { name: 'Add a message to the conversation' }).click()
    await page.getByLabel('Text of conversation message 1').fill('Hello')
    stub.answerNext(streaming([{ role: 'assistant', content: 'Ahoy' }]))
    await page.keyboard.press('Control+Enter')
    const output = page.getByRole('region', { name: 'Output' })
    await output.getByText('Ahoy').waitFor()
    await page.getByLabel('Your next message').fill('Where to?')
    stub.answerNext(streaming([{ role: 'assistant', content: 'To the sea' }]))
    await page.getByRole('button', { name: 'Send' }).click()
    await output.getByText('To the sea').waitFor()
    expect(stub.received.at(-1)?.body.messages.slice(1)).to.deep.equal([
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Ahoy' },
      { role: 'user', content: 'Where to?' },
    ])
    expect(await page.getByLabel('Text of conversation message 3').inputValue()).to.equal('Where to?')
    await visit.expectNoBarriers()

    // Beside other versions all columns have one conversation, and it goes on from the first one's answer.
    await commit('chat', 'You are {{who}}, and rude.')
    await visit.go('/a/chat/run?columns=v:chat@1,v:chat')
    const [first, second] = [1, 2].map((version) => page.getByRole('region', { name: `: chat v${version}` }))
    await second?.getByRole('button', { name: 'Actions' }).waitFor()
    const answer: ChatReaction = (response, request) => {
      const said = JSON.stringify(request.body.messages).includes('and rude') ? 'Go away' : 'Aye'
      const turn = request.body.messages.length
      streaming([{ role: 'assistant', content: `${said}, ${turn}` }])(response, request)
    }
    stub.answerNext(answer, answer)
    await page.getByRole('button', { name: 'Run 2 columns' }).click()
    await first?.getByText('Aye, 4').waitFor()
    await second?.getByText('Go away, 4').waitFor()
    expect(await second?.getByLabel('Your next message').count()).to.equal(0)
    await first?.getByText('All columns continue from this answer.').waitFor()
    await first?.getByLabel('Your next message').fill('When?')
    stub.answerNext(answer, answer)
    await page.getByRole('button', { name: 'Send' }).click()
    await first?.getByText('Aye, 6').waitFor()
    await second?.getByText('Go away, 6').waitFor()
    for (const { body } of stub.received.slice(-2))
      expect(body.messages.slice(-2)).to.deep.equal([
        { role: 'assistant', content: 'Aye, 4' },
        { role: 'user', content: 'When?' },
      ])
    expect(await page.getByLabel('Text of conversation message 5').inputValue()).to.equal('When?')
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('holds out against a model that streams garbage, never ends, or answers a megabyte', async () => {
    await makePrompt('bad', 'Go {{on}}', 'gpt-4o')
    const visit = await bench.visit({ path: '/a/bad/edit/bad' })
    const { page } = visit
    const output = page.getByRole('region', { name: 'Output' })
    const run = async (): Promise<void> => {
      await page.getByRole('heading', { name: 'Output' }).click()
      await page.keyboard.press('Control+Enter')
    }
    await page.getByRole('textbox', { name: 'on', exact: true }).fill('on')
    stub.answerNext(text('<html>not a model</html>', 200, 'text/event-stream'))
    await run()
    await page.getByRole('alert').waitFor()
    await output.getByText('failed').waitFor()

    // One that never ends: what comes is shown, typing goes on, and a stop ends the call at the provider.
    let gone = false
    stub.answerNext((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const more = setInterval(() => {
        const delta = { content: `${'word '.repeat(200)}\n` }
        response.write(event({ choices: [{ index: 0, delta, finish_reason: null }] }))
      }, 5)
      response.on('close', () => {
        clearInterval(more)
        gone = true
      })
    })
    await run()
    await output.getByText(/^The first [\d,]+ characters are shown at the end/).waitFor()
    await page.getByRole('textbox', { name: 'on', exact: true }).fill('and on')
    await page.getByRole('button', { name: 'Stop' }).click()
    await output.getByText('stopped').waitFor()
    await eventually(async () => gone, 'the provider’s call ends')

    const long = `${'<img src=x onerror="document.title=1"> '.repeat(27_000)}the end`
    stub.answerNext(streaming([{ role: 'assistant', content: long }], (response) => finished(response)))
    await run()
    await output.getByText('done').waitFor()
    await output.getByRole('button', { name: /^show all/ }).waitFor()
    expect(await page.title()).to.equal('Edit · bad · bad · Branchpoint')
    await visit.close()
  })

  it('leads from a missing provider key to where it is set, and keeps the draft', async () => {
    await makePrompt('keyless', 'Hi', 'groq/llama-3.1-8b-instant')
    const visit = await bench.visit({ path: '/a/keyless/edit/keyless' })
    const { page } = visit
    await page.getByRole('combobox', { name: 'Model' }).fill('mistral/ministral-3b-latest')
    await page.keyboard.press('Control+Enter')
    await page
      .getByRole('region', { name: 'Output' })
      .getByRole('link', { name: 'Add MISTRAL_API_KEY in Settings' })
      .click()
    await page.waitForURL('**/settings/secrets?name=MISTRAL_API_KEY')
    await page.goBack()
    await page.getByText(/^draft (?:saved )?in this browser/).waitFor()
    expect(await page.getByRole('combobox', { name: 'Model' }).inputValue()).to.equal(
      'mistral/ministral-3b-latest',
    )
    await visit.close()
  })
})
