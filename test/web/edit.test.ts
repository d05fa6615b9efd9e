import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { eventually } from '../http/environments/environment-client.ts'
import { closeBrowser } from '../support/browser/open-browser.ts'
import { startCuttingProxy } from './support/cutting-proxy.ts'
import { openWorkbench, type Visit, type Workbench } from './support/workbench.ts'

describe('workbench: editing', () => {
  let bench: Workbench
  before(async () => {
    bench = await openWorkbench()
  })
  after(async () => {
    await closeBrowser()
    await bench.close()
  })

  /** Asks with a body as text, and answers the text. */
  async function exactly(path: string, text: string): Promise<string> {
    const response = await fetch(bench.url + path, {
      method: 'POST',
      headers: { Authorization: `ApiKey ${bench.key}`, 'Content-Type': 'application/json' },
      body: text,
    })
    const answer = await response.text()
    expect(response.status, answer).to.equal(200)
    return answer
  }

  const SEED = '"seed":12345678901234567890'
  const ORDER = '"z":{"b":1,"a":2,"10":1,"2":0.1000000000000000055}'

  /** A prompt of two messages, with numbers and keys that JavaScript would change. */
  async function makePrompt(slug: string): Promise<void> {
    await exactly(
      '/simple/applications/',
      `{"application":{"slug":"${slug}","data":{"uri":"svc:builtin:completion:v0","parameters":{"prompt":{"messages":[
        {"role":"system","content":"You answer tickets.\\nBe kind."},{"role":"user","content":"{{question}}"}],
        "llm_config":{"model":"mock/examples","temperature":0.7,${SEED}},"template_format":"curly"},${ORDER}}}}}`,
    )
  }

  const head = (slug: string, variant = slug): Promise<string> =>
    exactly(
      '/workflows/revisions/retrieve',
      JSON.stringify({ workflow_ref: { slug }, workflow_variant_ref: { slug: variant } }),
    )

  /** Commits as somebody else does. */
  async function commitElsewhere(slug: string, set: object): Promise<void> {
    await bench.ask('POST', '/applications/revisions/commit', {
      application_revision_commit: {
        application_variant_ref: { slug },
        message: 'From elsewhere',
        delta: { set },
      },
    })
  }

  const textOf = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true })

  async function typeAtEnd(page: Page, name: string, text: string): Promise<void> {
    await textOf(page, name).click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type(text)
  }

  it('says that there are no problems once the server has looked at the draft as it is, and not before', async () => {
    await bench.ask('POST', '/simple/applications/', {
      application: {
        slug: 'looked-at',
        data: {
          uri: 'svc:builtin:completion:v0',
          parameters: {
            prompt: { messages: [{ role: 'user', content: 'Hi' }], llm_config: { model: 'mock/examples' } },
          },
        },
      },
    })
    const visit = await bench.visit({ path: '/a/looked-at/edit/looked-at' })
    const { page } = visit
    const checks = page.getByRole('complementary', { name: 'About the draft' })
    await checks.getByText('No problems found.').waitFor()
    await checks.getByText('No variables.').waitFor()
    let answer = (): void => undefined
    const mayAnswer = new Promise<void>((resolve) => (answer = resolve))
    await page.route('**/services/inspect', async (route) => {
      await mayAnswer
      await route.fulfill({ status: 413, json: { code: 'document_too_large', detail: 'It is too large.' } })
    })
    await page.getByLabel('temperature').fill('1')
    await checks.getByText('Checking …').waitFor()
    expect(await checks.getByText('No problems found.').count()).to.equal(0)
    answer()
    await checks.getByText('It is too large.').waitFor()
    await checks.getByText('Error', { exact: true }).waitFor()
    expect(await checks.getByText('No problems found.').count()).to.equal(0)
    // What cannot be taken as it is typed is said there, too.
    await page.unroute('**/services/inspect')
    await page.getByLabel('temperature').fill('9')
    await checks.getByText(/^temperature must be/).waitFor()
    await page.getByLabel('temperature').fill('0.5')
    await checks.getByText('No problems found.').waitFor()
    // What the server would take, and every run fail with.
    await page.getByRole('combobox', { name: 'Model' }).fill('mock/nothing')
    await checks.getByText("The provider 'mock' has no model 'nothing'").waitFor()
    expect(await checks.getByText('No problems found.').count()).to.equal(0)
    await page.getByRole('combobox', { name: 'Model' }).fill('groq/llama')
    await checks.getByText("No API key found for model 'groq/llama'").waitFor()
    const add = page.getByRole('link', { name: 'Add GROQ_API_KEY in Settings' })
    expect(await add.getAttribute('href')).to.equal('/settings/secrets?name=GROQ_API_KEY')
    // That may be committed all the same, so it is no error.
    await checks.getByText('Warning', { exact: true }).waitFor()
    expect(
      await page.getByRole('button', { name: /^Save version/ }).getAttribute('aria-disabled'),
    ).not.to.equal('true')
    await page.getByRole('combobox', { name: 'Model' }).fill('mock/examples')
    await checks.getByText('No problems found.').waitFor()
    await page.getByLabel('Variable syntax').selectOption('jinja2')
    await typeAtEnd(page, 'Text of message 1, user', '{% if x %}')
    await checks.getByText('parameters.prompt.messages.0.content').waitFor()
    expect(await checks.getByText('No problems found.').count()).to.equal(0)
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('commits by keyboard alone what was changed and nothing else', async () => {
    await makePrompt('bot')
    const visit = await bench.visit({ path: '/a/bot/edit/bot' })
    const { page } = visit
    await typeAtEnd(page, 'Text of message 1, system', '\nAnswer in {{language}}.')
    const about = page.getByRole('complementary', { name: 'About the draft' })
    await about.getByText('language', { exact: true }).waitFor()
    await about.getByText('question', { exact: true }).waitFor()
    const changes = page.getByRole('region', { name: 'Changes', exact: true })
    await changes.getByText('1 message changed').waitFor()
    await visit.expectNoBarriers()
    await visit.picture('edit-1440')
    await page.keyboard.press('Control+s')
    await page.getByRole('dialog', { name: 'Save version' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(page.url()).to.include('/a/bot/edit/bot')
    await page.keyboard.press('Control+s')
    await page.getByRole('dialog', { name: 'Save version' }).waitFor()
    await page.keyboard.type('Say which language')
    await visit.expectNoBarriers()
    const sent = page.waitForRequest('**/workflows/revisions/commit')
    await page.keyboard.press('Control+Enter')
    const body = (await sent).postData() ?? ''
    expect(body)
      .to.include('"base_revision_id"')
      .and.to.include('"delta":{"set":{"parameters":{"prompt":{"messages":')
    expect(body).not.to.match(/seed|"z"|schemas|llm_config|"uri"/)
    await page.waitForURL('**/a/bot/v/bot/2')
    const stored = await head('bot')
    expect(stored).to.include(SEED).and.to.include(ORDER).and.to.include('Be kind.\\nAnswer in {{language}}.')
    expect(JSON.parse(stored).workflow_revision).to.include({ version: 2, message: 'Say which language' })
    await visit.close()
  })

  it('runs the draft on inputs that stay, by keyboard alone, and stores no version', async () => {
    await makePrompt('tried')
    const visit = await bench.visit({ path: '/a/tried/edit/tried' })
    const { page } = visit
    await typeAtEnd(page, 'Text of message 2, user', ' in {{language}}')
    const tried = page.getByRole('region', { name: 'Try' })
    await tried.getByLabel('question').fill('What is it')
    await tried.getByLabel('language').fill('French')
    const sent = page.waitForRequest('**/services/invoke')
    await page.keyboard.press('Control+Enter')
    const body = JSON.parse((await sent).postData() ?? '')
    expect(body.references.workflow_revision).to.equal(undefined)
    expect(body.data.revision.data.parameters.prompt.messages[1].content).to.equal(
      '{{question}} in {{language}}',
    )
    const output = tried.getByRole('region', { name: 'Output' })
    await output.getByText('What is it in French').waitFor()
    await output.getByText(/\d+ tokens/).waitFor()
    expect(JSON.parse(await head('tried')).workflow_revision.version).to.equal(1)
    await visit.expectNoBarriers()

    await page.reload()
    await tried.getByLabel('language').waitFor()
    expect(await tried.getByLabel('question').inputValue()).to.equal('What is it')
    // A variable that was typed a moment ago is sent, too.
    await typeAtEnd(page, 'Text of message 2, user', ', {{name}}')
    await page.keyboard.press('Control+Enter')
    await output.getByText('What is it in French,').waitFor()

    // Rows of a testset are stepped through by keys, and found by their words or their number.
    const rows = ['Why', 'Who', 'When'].map((it) => ({ data: { question: it, language: 'Latin' } }))
    await bench.ask('POST', '/simple/testsets/', { testset: { slug: 'asked', data: { testcases: rows } } })
    const question = tried.getByLabel('question')
    const holds = async (text: string, row: number): Promise<void> => {
      await tried.getByText(`row ${row} of 3`).waitFor()
      await eventually(async () => (await question.inputValue()) === text, text)
    }
    await tried.getByRole('combobox', { name: 'Use a testset row (optional)' }).fill('asked')
    await page.getByRole('option', { name: 'asked' }).click()
    await holds('Why', 1)
    await tried.getByRole('heading', { name: 'Inputs' }).click()
    await page.keyboard.press(']')
    await holds('Who', 2)
    await page.keyboard.press('[')
    await holds('Why', 1)
    await tried.getByRole('combobox', { name: 'Row', exact: true }).fill('when')
    await page.getByRole('option', { name: /When/ }).click()
    await holds('When', 3)
    await tried.getByRole('combobox', { name: 'Row', exact: true }).fill('2')
    await page.getByRole('option', { name: 'Row 2' }).click()
    await holds('Who', 2)
    expect(new URL(page.url()).search).to.equal('?testset=asked&row=2')
    await tried.getByRole('button', { name: 'Run', exact: true }).click()
    await output.getByText('Who in Latin,').waitFor()
    await tried.getByRole('button', { name: 'These inputs again' }).nth(1).click()
    await eventually(async () => (await question.inputValue()) === 'What is it', 'the inputs of the run')
    await visit.close()
  })

  it('opens a prompt of 5,000 messages with editors for those that are seen, and edits any of them', async () => {
    const messages = Array.from({ length: 5000 }, (_, at) => ({
      role: 'user',
      content: `Say ${at + 1} to {{who}}.`,
    }))
    const prompt = { messages, llm_config: { model: 'mock/echo' } }
    await bench.ask('POST', '/simple/applications/', {
      application: { slug: 'many', data: { uri: 'svc:builtin:completion:v0', parameters: { prompt } } },
    })
    const visit = await bench.visit({ path: '/a/many/edit/many' })
    const { page } = visit
    const list = page.getByRole('region', { name: 'Messages' })
    await textOf(page, 'Text of message 1, user').waitFor()
    expect(await list.getByRole('listitem').count()).to.equal(5000)
    expect(await list.locator('.cm-editor').count()).to.be.within(5, 30)
    expect(await page.evaluate('document.querySelectorAll("*").length')).to.be.below(25_000)
    // What has no editor yet can be read, and gets one where it is scrolled to; so do its neighbours, for Tab.
    await list.getByText('Say 4000 to {{who}}.', { exact: true }).scrollIntoViewIfNeeded()
    await textOf(page, 'Text of message 4000, user').waitFor()
    await textOf(page, 'Text of message 4002, user').waitFor()
    await typeAtEnd(page, 'Text of message 4000, user', ' Loudly.')
    // The draft is compared with its base once the text is drawn, or somebody saves.
    await page.keyboard.press('Control+s')
    const saving = page.getByRole('dialog', { name: 'Save version' })
    await saving.getByText('1 message changed').waitFor()
    expect(await list.locator('.cm-editor').count()).to.be.below(80)
    await page.keyboard.press('Control+Enter')
    await page.waitForURL('**/a/many/v/many/2')
    const stored = JSON.parse(await head('many')).workflow_revision.data.parameters.prompt.messages
    messages[3999] = { role: 'user', content: 'Say 4000 to {{who}}. Loudly.' }
    expect(stored).to.deep.equal(messages)
    await visit.close()
  })

  it('adds, moves and removes messages, and offers names after the braces', async () => {
    await makePrompt('messages')
    const visit = await bench.visit({ path: '/a/messages/edit/messages' })
    const { page } = visit
    await page.getByRole('button', { name: 'Add a message' }).click()
    await page.getByLabel('Role of message 3').selectOption('assistant')
    await typeAtEnd(page, 'Text of message 3, assistant', 'It is {{qu')
    // A key that comes as the list opens is not meant for it, so the editor lets it through.
    await page.getByRole('option', { name: 'question' }).click()
    await page.keyboard.type('!')
    await page.getByRole('button', { name: 'Move message 3 up' }).focus()
    await page.keyboard.press('Enter')
    // The focus goes with the message, so that the next press moves it on.
    await page.keyboard.press('Enter')
    await textOf(page, 'Text of message 1, assistant').getByText('It is {{question}}!').waitFor()
    await page.getByRole('button', { name: 'Remove message 2' }).click()
    await page.getByRole('button', { name: 'Save version' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save version' }).click()
    await page.waitForURL('**/v/messages/2')
    const { workflow_revision: revision } = JSON.parse(await head('messages'))
    expect(revision.data.parameters.prompt.messages).to.deep.equal([
      { role: 'assistant', content: 'It is {{question}}!' },
      { role: 'user', content: '{{question}}' },
    ])
    await visit.close()
  })

  it('keeps numbers as they are typed, says at the field what is wrong, and commits nothing until it is right', async () => {
    await makePrompt('numbers')
    const visit = await bench.visit({ path: '/a/numbers/edit/numbers' })
    const { page } = visit
    const temperature = page.getByLabel('temperature')
    await temperature.fill('3')
    await page.getByText('must be from 0 to 2', { exact: true }).waitFor()
    const commit = page.getByRole('button', { name: /^Save version/ })
    expect(await commit.getAttribute('title')).to.equal('temperature must be from 0 to 2')
    await temperature.fill('0.1000000000000000055')
    await page.getByLabel('top_p').fill('0.9')
    await page.getByRole('link', { name: 'JSON' }).click()
    const json = textOf(page, 'Parameters as JSON')
    await json.getByText('0.1000000000000000055').first().waitFor()
    await json.click()
    await page.keyboard.press('Control+End')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.type(', "big": 98765432109876543210, ')
    const problem = page.getByRole('alert').getByText('This is not JSON yet')
    await problem.waitFor()
    expect(await commit.getAttribute('title')).to.match(/^This is not JSON yet/)
    for (let at = 0; at < 2; at++) await page.keyboard.press('Backspace')
    await problem.waitFor({ state: 'detached' })
    await commit.click()
    const sent = page.waitForRequest('**/workflows/revisions/commit')
    await page.getByRole('dialog').getByRole('button', { name: 'Save version' }).click()
    expect((await sent).postData()).to.match(
      /"temperature":0\.1000000000000000055\b.*"big":98765432109876543210/,
    )
    await page.waitForURL('**/v/numbers/2')
    expect(await head('numbers'))
      .to.include(SEED)
      .and.to.include('"top_p":0.9')
      .and.to.include('98765432109876543210')
    await visit.close()
  })

  it('holds parameters against the schema that the revision has for them, at the field and in the JSON', async () => {
    await bench.ask('POST', '/simple/applications/', {
      application: {
        slug: 'checked',
        data: {
          uri: 'svc:builtin:completion:v0',
          parameters: {
            prompt: {
              messages: [{ role: 'user', content: '{{q}}' }],
              llm_config: { model: 'mock/examples' },
            },
            style: 'short',
          },
          schemas: {
            parameters: {
              type: 'object',
              properties: {
                prompt: {
                  type: 'object',
                  properties: {
                    llm_config: {
                      type: 'object',
                      properties: { model: { enum: ['mock/examples', 'mock/echo'] } },
                    },
                  },
                },
                style: { enum: ['short', 'long'] },
                limit: { type: ['integer', 'null'], minimum: 1 },
              },
              required: ['style'],
            },
          },
        },
      },
    })
    const visit = await bench.visit({ path: '/a/checked/edit/checked' })
    const { page } = visit
    const model = page.getByRole('combobox', { name: 'Model' })
    await model.fill('gpt-4o')
    await page.getByText('must be one of "mock/examples", "mock/echo"', { exact: true }).waitFor()
    expect(await model.getAttribute('aria-invalid')).to.equal('true')
    await visit.expectNoBarriers()
    await visit.picture('edit-checked-1440')
    await model.fill('mock/echo')
    await page
      .getByText('must be one of "mock/examples", "mock/echo"', { exact: true })
      .waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'JSON' }).click()
    const json = textOf(page, 'Parameters as JSON')
    await json.click()
    await page.keyboard.press('Control+A')
    await page.keyboard.insertText('{"prompt": {"messages": []}, "limit": 0}')
    await page.getByRole('alert').getByText('style is required').waitFor()
    const checks = page.getByRole('complementary', { name: 'About the draft' }).getByRole('status')
    await checks.getByText('parameters.limit').waitFor()
    await checks.getByText('must be at least 1').waitFor()
    await page.getByRole('button', { name: 'Save version' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save version' }).click()
    const warnings = page.getByRole('list', { name: 'Warnings about what was saved' })
    await warnings.getByText('The parameters break their schema').waitFor()
    await visit.expectNoBarriers()
    await visit.close()
  })

  it('sends the whole as it is typed where a delta cannot say it: another order of keys', async () => {
    await makePrompt('order')
    const visit = await bench.visit({ path: '/a/order/edit/order?view=json' })
    const { page } = visit
    const json = textOf(page, 'Parameters as JSON')
    await json.click()
    await page.keyboard.press('Control+A')
    await page.keyboard.insertText('{"z":{"2":1,"10":1,"a":0.30000000000000004441},"prompt":{"messages":[]}}')
    await page.getByRole('button', { name: 'Save version' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save version' }).click()
    await page.waitForURL('**/v/order/2')
    expect(await head('order')).to.include(
      '"parameters":{"z":{"2":1,"10":1,"a":0.30000000000000004441},"prompt":{"messages":[]}}',
    )
    await visit.close()
  })

  it('keeps a draft over a reload, lets one tab edit it, and asks before it is thrown away', async () => {
    await makePrompt('drafts')
    const visit = await bench.visit({ path: '/a/drafts/edit/drafts' })
    const { page } = visit
    await typeAtEnd(page, 'Text of message 2, user', ' Now.')
    await page.getByText('draft saved in this browser').waitFor()
    await page.reload()
    await textOf(page, 'Text of message 2, user').getByText('{{question}} Now.').waitFor()

    const other = await visit.context.newPage()
    await other.goto(`${bench.url}/a/drafts/edit/drafts`)
    await other.getByText('This draft is open in another tab, where it can be edited.').waitFor()
    expect(await textOf(other, 'Text of message 2, user').getAttribute('aria-readonly')).to.equal('true')
    await other.getByRole('button', { name: 'Edit it here' }).click()
    await page.getByText('This draft is open in another tab, where it can be edited.').waitFor()
    await typeAtEnd(other, 'Text of message 2, user', ' Please.')
    await other.getByText('draft saved in this browser').waitFor()
    await other.close()
    // The tab that is left goes on with what the other one wrote.
    await textOf(page, 'Text of message 2, user').getByText('{{question}} Now. Please.').waitFor()

    await page.getByRole('button', { name: 'Discard draft' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Discard draft' }).click()
    await page.getByRole('button', { name: 'Discard the draft' }).click()
    await page.getByText('no changes', { exact: true }).waitFor()
    await page.reload()
    await page.getByText('no changes', { exact: true }).waitFor()
    await textOf(page, 'Text of message 2, user').getByText('{{question}}', { exact: true }).waitFor()
    await visit.close()
  })

  describe('where somebody was faster', () => {
    /** A draft on version 1 of a prompt whose head is version 2 by now, up to the refusal. */
    async function moved(slug: string, text: string, set: object): Promise<Visit> {
      await makePrompt(slug)
      const visit = await bench.visit({ path: `/a/${slug}/edit/${slug}` })
      const { page } = visit
      await typeAtEnd(page, 'Text of message 1, system', text)
      await page.keyboard.press('Control+s')
      await page.getByLabel('Message', { exact: true }).fill('Mine')
      await commitElsewhere(slug, set)
      await page.keyboard.press('Control+Enter')
      await page.getByRole('dialog', { name: `${slug} is now at v2` }).waitFor()
      return visit
    }

    it('shows both sides, and has the server merge what touches other places', async () => {
      const visit = await moved('apart', ' Be brief.', {
        parameters: { prompt: { llm_config: { temperature: 0.1 } } },
      })
      const { page } = visit
      const sheet = page.getByRole('dialog')
      await sheet.getByRole('heading', { name: 'Their changes: v1 to v2' }).waitFor()
      await sheet.getByText('parameters.prompt.llm_config.temperature').waitFor()
      await sheet.getByText('1 message changed').waitFor()
      await visit.expectNoBarriers()
      await sheet.getByRole('button', { name: 'Merge my changes into v2' }).click()
      await page.waitForURL('**/v/apart/3')
      const stored = await head('apart')
      expect(stored).to.include('Be kind. Be brief.').and.to.include('"temperature":0.1').and.to.include(SEED)
      expect(JSON.parse(stored).workflow_revision).to.include({ version: 3, message: 'Mine' })
      await visit.close()
    })

    it('has the conflict resolved where both changed one place, and saves the result', async () => {
      const visit = await moved('same', ' Be brief.', {
        parameters: { prompt: { messages: [{ role: 'system', content: 'Theirs.' }] } },
      })
      const { page } = visit
      const saveTo = page.getByLabel('If it can’t be merged, keep my version as:')
      await saveTo.fill('left')
      await page.getByRole('button', { name: 'Merge my changes into v2' }).click()
      // A merge that is left for more changes leaves no variant behind.
      const isArchived = page.waitForResponse('**/workflows/variants/*/archive')
      await page.getByText('1 conflict, 1 left').waitFor()
      await page.getByRole('button', { name: 'Cancel' }).click()
      await saveTo.waitFor()
      await page.keyboard.press('Escape')
      expect((await isArchived).status()).to.equal(200)
      await page.getByRole('button', { name: 'See both' }).click()
      await saveTo.fill('mine')
      await page.getByRole('button', { name: 'Merge my changes into v2' }).click()
      const sheet = page.getByRole('dialog', { name: 'Merge your changes into same' })
      await sheet.getByText('1 conflict, 1 left').waitFor()
      expect(await head('same'))
        .to.include('"content":"Theirs."')
        .and.not.to.include('brief')
      expect(await head('same', 'mine')).to.include('Be kind. Be brief.')
      await visit.expectNoBarriers()
      // Another version comes meanwhile; what is decided about this place stays.
      await sheet
        .getByRole('button', { name: /^Use incoming/ })
        .first()
        .click()
      await commitElsewhere('same', { parameters: { prompt: { llm_config: { temperature: 0.3 } } } })
      await sheet.getByText('1 conflict, all decided').waitFor()
      // The page may have heard of the newer version already, or hears of it by the refusal; while it reads that, the key does nothing.
      for (; !page.url().endsWith('/v/same/4'); await page.waitForTimeout(50))
        await page.keyboard.press('Control+Enter')
      expect(await head('same'))
        .to.include('Be kind. Be brief.')
        .and.to.include('"temperature":0.3')
      await visit.close()
    })

    it('keeps what was decided however often the head moves, and what was typed where a place changed again', async () => {
      const visit = await moved('often', ' Be brief.', {
        parameters: {
          prompt: { messages: [{ role: 'system', content: 'Theirs.' }], template_format: 'jinja2' },
        },
      })
      const { page } = visit
      await page.getByRole('button', { name: 'Merge my changes into v2' }).click()
      const sheet = page.getByRole('dialog', { name: 'Merge your changes into often' })
      await sheet.getByText('1 conflict, 1 left').waitFor()
      await page.keyboard.press('e')
      const typed = sheet.getByLabel(/^Your (?:text|value)/)
      await typed.fill('Ours.')
      await page.keyboard.press('Escape')
      // Each of five tries to save finds another version.
      const versions = [
        ...[0.1, 0.2, 0.3, 0.4].map((temperature) => ({ llm_config: { temperature } })),
        { messages: [{ role: 'system', content: 'Theirs, again.' }] },
      ]
      await page.route('**/variants/merge', async (route) => {
        const isTry = !route.request().postData()?.includes('"dry_run":true')
        const next = isTry ? versions.shift() : undefined
        if (next) await commitElsewhere('often', { parameters: { prompt: next } })
        await route.continue()
      })
      for (const left of ['all decided', 'all decided', 'all decided', 'all decided', '1 left']) {
        // While the sheet is still reading the version before, the key does nothing.
        for (const before = versions.length; versions.length === before; await page.waitForTimeout(50))
          await page.keyboard.press('Control+Enter')
        await sheet.getByText('often changed meanwhile, so nothing was saved yet.').waitFor()
        await sheet.getByText(`1 conflict, ${left}`).waitFor()
      }
      // The fifth changed the very place: what was typed is offered, and not sent unseen.
      await sheet.getByRole('button', { name: 'Use what I typed before this changed' }).click()
      await sheet.getByText('1 conflict, all decided').waitFor()
      await page.keyboard.press('Control+Enter')
      await page.waitForURL('**/a/often/v/often/8')
      expect(await head('often'))
        .to.include('"content":"Ours."')
        .and.to.include('"temperature":0.4')
      await visit.close()
    })

    it('has a long line decided word by word, by keys alone: one word is left of 2,000 characters', async () => {
      const sentences = Array.from(
        { length: 40 },
        (_, at) => `Point ${at} says how kindly you answer people.`,
      )
      const prose = (words: Readonly<Record<number, string>>): string =>
        sentences.map((it, at) => it.replace('kindly', words[at] ?? 'kindly')).join(' ')
      expect(prose({}).length).to.be.within(1600, 2400)
      const parameters = (content: string) => ({
        prompt: { messages: [{ role: 'system', content }], llm_config: { model: 'mock/examples' } },
      })
      await bench.ask('POST', '/simple/applications/', {
        application: {
          slug: 'prose',
          data: { uri: 'svc:builtin:completion:v0', parameters: parameters(prose({})) },
        },
      })
      const visit = await bench.visit({ path: '/a/prose/edit/prose' })
      const { page } = visit
      const { keyboard } = page
      await textOf(page, 'Text of message 1, system').focus()
      await keyboard.press('Control+a')
      await keyboard.insertText(prose({ 20: 'warmly', 35: 'shortly' }))
      await keyboard.press('Control+s')
      await page.getByLabel('Message', { exact: true }).waitFor()
      await commitElsewhere('prose', { parameters: parameters(prose({ 5: 'calmly', 20: 'briefly' })) })
      await keyboard.type('Warmer')
      await keyboard.press('Control+Enter')
      await page.getByRole('button', { name: 'Merge my changes into v2' }).focus()
      await keyboard.press('Enter')
      const sheet = page.getByRole('dialog', { name: 'Merge your changes into prose' })
      await sheet.getByText('1 conflict, 1 left').waitFor()
      const block = sheet.getByRole('region', { name: 'Conflict 1 of 1: System message' })
      await block.getByText('briefly', { exact: true }).waitFor()
      await block.getByText('warmly', { exact: true }).waitFor()
      expect((await block.textContent())?.length, 'the line is shown in part').to.be.below(800)
      await visit.expectNoBarriers()
      const result = sheet.getByRole('region', { name: 'Result: System message' })
      await result.getByText('to be decided').waitFor()
      await keyboard.press('3')
      await result.getByText('briefly warmly').waitFor()
      await keyboard.press('e')
      await keyboard.press('Control+a')
      await keyboard.type('briefly and warmly')
      await keyboard.press('Escape')
      await sheet.getByText('1 conflict, all decided').waitFor()
      await keyboard.press('Control+Enter')
      await page.waitForURL('**/a/prose/v/prose/3')
      const { workflow_revision: merged } = JSON.parse(await head('prose'))
      expect(merged.message).to.equal('Warmer')
      expect(merged.data.parameters.prompt.messages[0].content).to.equal(
        prose({ 5: 'calmly', 20: 'briefly and warmly', 35: 'shortly' }),
      )
      await visit.close()
    })

    it('saves once what the server took while its answer was lost', async () => {
      await makePrompt('lost')
      const proxy = await startCuttingProxy(bench.url)
      const visit = await bench.visit({
        path: '/a/lost/edit/lost',
        through: proxy.url,
        expected: /ERR_(?:CONNECTION|EMPTY)|Failed to load resource: net::/,
      })
      const { page } = visit
      await typeAtEnd(page, 'Text of message 1, system', ' Be brief.')
      await page.keyboard.press('Control+s')
      await page.getByLabel('Message', { exact: true }).fill('Mine')
      const isLost = proxy.loseAnswersOf('/workflows/revisions/commit')
      await page.keyboard.press('Control+Enter')
      await isLost
      await page.getByRole('alert').getByText('The server does not answer.').waitFor()
      proxy.loseNone()
      await page.keyboard.press('Control+Enter')
      await page.waitForURL('**/a/lost/v/lost/2')
      expect(JSON.parse(await head('lost')).workflow_revision).to.include({ version: 2, message: 'Mine' })
      expect(await head('lost')).to.include('Be brief.')
      const { workflow_variants: variants } = await bench.ask('POST', '/workflows/variants/query', {
        workflow_refs: [{ slug: 'lost' }],
      })
      expect(variants).to.have.length(1)
      await visit.close()
      await proxy.close()
    })

    it('commits to a new variant instead, and says where a name is taken', async () => {
      const visit = await moved('fork', ' Be brief.', {
        parameters: { prompt: { template_format: 'jinja2' } },
      })
      const { page } = visit
      await page.getByLabel('If it can’t be merged, keep my version as:').fill('fork')
      await page.getByRole('button', { name: 'Keep as fork' }).last().click()
      await page
        .getByText(/taken|already/)
        .first()
        .waitFor()
      await page.getByLabel('If it can’t be merged, keep my version as:').fill('brief')
      await page.getByRole('button', { name: 'Keep as brief' }).click()
      await page.waitForURL('**/a/fork/v/brief/2')
      expect(await head('fork', 'brief'))
        .to.include('Be brief.')
        .and.to.include('"template_format":"curly"')
      await visit.close()
    })
  })

  it('commits to a new variant that begins where the draft does', async () => {
    await makePrompt('target')
    const visit = await bench.visit({ path: '/a/target/edit/target' })
    const { page } = visit
    await page.getByRole('combobox', { name: 'Model' }).fill('gpt-4o')
    await page.getByRole('button', { name: 'Save version' }).click()
    await page.getByLabel(/a new variant/).check()
    await page.getByLabel('Name of the new variant').fill('gpt')
    await page.getByRole('dialog').getByRole('button', { name: 'Save as a new variant' }).click()
    await page.waitForURL('**/a/target/v/gpt/2')
    expect(await head('target', 'gpt'))
      .to.include('"model":"gpt-4o"')
      .and.to.include(SEED)
    expect(JSON.parse(await head('target')).workflow_revision.version).to.equal(1)
    await visit.close()
  })

  it('edits a script, and on a narrow screen', async () => {
    await bench.ask('POST', '/simple/applications/', {
      application: {
        slug: 'code',
        data: {
          uri: 'svc:custom:code:v0',
          runtime: 'javascript',
          script: 'export function evaluate({ name }) {\n  return `Hello ${name}`\n}\n',
        },
      },
    })
    const visit = await bench.visit({ path: '/a/code/edit/code', width: 390, height: 844 })
    const { page } = visit
    await typeAtEnd(page, 'Script', '// the end')
    await page.getByRole('region', { name: 'Changes', exact: true }).getByText('// the end').waitFor()
    await visit.expectNoBarriers()
    await visit.picture('edit-390')
    await page.getByRole('button', { name: 'Save version' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save version' }).click()
    await page.waitForURL('**/v/code/2')
    expect(JSON.parse(await head('code')).workflow_revision.data.script).to.match(/\}\n\/\/ the end$/)
    await visit.close()
  })

  it('shows hostile and huge texts as texts', async () => {
    await bench.ask('POST', '/simple/applications/', {
      application: {
        slug: 'hostile',
        data: {
          uri: 'svc:builtin:completion:v0',
          parameters: {
            prompt: {
              messages: [
                { role: 'system', content: '<img src=x onerror="document.title=1"> \u202Egnp.exe {{ x }}' },
                { role: 'user', content: 'x'.repeat(1_000_000) },
              ],
            },
          },
        },
      },
    })
    const visit = await bench.visit({ path: '/a/hostile/edit/hostile' })
    const { page } = visit
    await textOf(page, 'Text of message 1, system').getByText('<img src=x').waitFor()
    await typeAtEnd(page, 'Text of message 1, system', ' More.')
    await page.getByText('1 message changed').waitFor()
    expect(await page.title()).to.equal('Edit · hostile · hostile · Branchpoint')
    await visit.close()
  })

  it('tells a key that may only read why it cannot commit, and what is not there', async () => {
    await makePrompt('reading')
    const { key } = await bench.ask('POST', '/keys', { key: { name: 'reader', scopes: ['read'] } })
    const visit = await bench.visit({ path: '/a/reading/edit/reading', key: key.secret })
    const { page } = visit
    await typeAtEnd(page, 'Text of message 2, user', '?')
    await page
      .getByRole('button', { name: /^Save version ?: The key "reader" lacks the scope write/ })
      .waitFor()
    await page.getByRole('button', { name: /^Run ?: The key "reader" lacks the scope invoke/ }).waitFor()
    await page.keyboard.press('Control+s')
    expect(await page.getByRole('dialog').count()).to.equal(0)
    await visit.go('/a/reading/edit/nobody')
    await page
      .getByRole('alert')
      .getByText(/nobody/)
      .waitFor()
    await visit.close()
  })
})
