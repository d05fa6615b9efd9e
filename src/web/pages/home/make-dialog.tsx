import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { call } from '../../api/call.ts'
import { membersOf } from '../../api/json.ts'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { Conversation, type Message } from '../../parts/conversation/conversation.tsx'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { hasDraft, keepNewDraft } from '../../parts/drafts/new-drafts.ts'
import { Editor } from '../../parts/editor/editor.tsx'
import { NameAndId, useNamed } from '../../parts/fields/name-and-id.tsx'
import { problemOfJson } from '../../parts/json-text/json-text.ts'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { places, useAddress } from '../../shell/places.ts'
import { useSession } from '../../shell/session.tsx'
import type { Family } from '../../api/kinds.ts'
import styles from './make.module.css'

export interface MakeDialogProps {
  readonly family: Family
  readonly close: () => void
}

/**
 * Makes something new. A prompt or an evaluator opens in the editor as a draft of the chosen template, and its first save creates it. A workflow of
 * JSON, a query, and a testset without rows are created at once.
 */
export function MakeDialog({ family, close }: MakeDialogProps) {
  const { kind, one } = family
  const isDrafted = kind === 'applications' || kind === 'evaluators'
  const named = useNamed('', isDrafted ? 'workflows' : kind)
  const { name, id } = named
  const templates = useTemplates(kind)
  const [key, setKey] = useState<string>()
  const template = templates.found.find((it) => it.key === key) ?? templates.found[0]
  const [json, setJson] = useState('{\n  "parameters": {}\n}')
  const problem = kind === 'workflows' ? problemOfContent(json) : undefined
  const { folder } = useAddress()
  const { project } = useSession()
  const navigate = useNavigate()
  const workflow = useWrite('POST /simple/workflows')
  const testset = useWrite('POST /simple/testsets')
  const query = useWrite('POST /simple/queries')

  async function make(): Promise<void> {
    const header = {
      slug: id,
      ...(name.trim() === '' ? {} : { name: name.trim() }),
      // It is made where the list is.
      ...(folder === undefined ? {} : { folder }),
    }
    if (isDrafted) {
      if (await hasDraft(project, id))
        throw new Error(`There is a draft of “${id}” in this browser: continue it, or choose another ID.`)
      await keepNewDraft(project, { kind, slug: id, name: name.trim(), folder }, template?.data ?? '{}')
      await navigate({ to: places.edit(id, id) })
    } else if (kind === 'workflows') {
      const sent = JSON.stringify(header).slice(0, -1)
      await workflow.mutateAsync({ text: `{"workflow":${sent},"data":${json}}}` })
      await navigate({ to: places.artifact(id) })
    } else if (kind === 'queries') {
      await query.mutateAsync({ body: { query: { ...header, data: {} } } })
      await navigate({ to: places.query(id) })
    } else {
      await testset.mutateAsync({ body: { testset: header } })
      await navigate({ to: places.testset(id) })
    }
  }

  return (
    <FormDialog
      title={`New ${one}`}
      action={isDrafted ? 'Open the editor' : `Create ${id || one}`}
      needs="write"
      wide={isDrafted || kind === 'workflows'}
      refusal={named.refusal ?? problem ?? (isDrafted && !template ? 'Choose a template.' : undefined)}
      submit={make}
      close={close}
    >
      {(problemOf) => (
        <>
          <div className={styles.names}>
            <NameAndId named={named} problem={problemOf('slug')} />
          </div>
          {isDrafted && (
            <>
              {templates.error && <Failure error={templates.error} />}
              {template ? (
                <div className={styles.templates}>
                  <Templates found={templates.found} chosen={template} choose={setKey} />
                  <Preview template={template} />
                </div>
              ) : (
                <Skeleton label="Loading the templates" />
              )}
            </>
          )}
          {kind === 'workflows' && (
            <Editor
              label="Content as JSON"
              value={json}
              onChange={setJson}
              language="json"
              problem={problem}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}

function problemOfContent(json: string): string | undefined {
  const problem = problemOfJson(json)
  if (problem !== undefined) return `This is not JSON yet: ${problem}`
  return /^\s*\{/.test(json) ? undefined : 'The content must be a JSON object: { … }.'
}

/** A start for something new. */
interface Template {
  readonly key: string
  readonly name: string
  readonly text: string
  /** The content of the first version, as JSON text. */
  readonly data: string
  readonly parameters: Readonly<Record<string, unknown>>
  /** The schema of its parameters. */
  readonly schema: unknown
}

/** The names of those that the catalog calls by their key. */
const NAMES: Readonly<Record<string, string>> = {
  completion: 'Single answer',
  chat: 'Conversation',
  agent: 'Agent',
  code: 'Code',
  hook: 'Your own service',
  llm: 'Several models in turn',
}

const FIRST = [
  'completion',
  'chat',
  'auto_exact_match',
  'auto_regex_test',
  'auto_ai_critique',
  'auto_custom_code_run',
]

/** Only tests use these; feedback has nothing to run, so it is no prompt. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  applications: ['mock', 'echo', 'feedback'],
  evaluators: ['mock', 'echo', 'llm'],
}

/** The templates of the catalog and their presets, the usual ones first. */
function useTemplates(kind: Family['kind']) {
  const isDrafted = kind === 'applications' || kind === 'evaluators'
  const { data, error } = useRoute(
    `GET /${kind === 'evaluators' ? 'evaluators' : 'applications'}/catalog/templates`,
    {},
    { enabled: isDrafted },
  )
  const offered = (data?.templates ?? []).filter(({ key }) => LEFT_OUT[kind]?.includes(key) === false)
  const found = offered
    .flatMap((template) =>
      [template, ...template.presets].map((it) =>
        templateOf(it, template, it === template ? '' : template.key),
      ),
    )
    .sort((one, other) => rank(one.key) - rank(other.key))
  return { found, error }
}

type Offered = Awaited<ReturnType<typeof call<'GET /evaluators/catalog/templates'>>>['templates'][number]

function templateOf(
  it: Pick<Offered, 'key' | 'name' | 'description' | 'data'>,
  { schemas }: Pick<Offered, 'schemas'>,
  under: string,
): Template {
  const { uri, parameters, schemas: own } = it.data as Readonly<Record<string, unknown>>
  const data = { uri, parameters, ...(under === '' ? {} : { schemas: own }) }
  return {
    key: under === '' ? it.key : `${under}/${it.key}`,
    name: NAMES[it.key] ?? it.name ?? it.key,
    text: it.description ?? '',
    data: JSON.stringify(data),
    parameters: membersOf(parameters),
    schema: membersOf(schemas)['parameters'],
  }
}

function rank(key: string): number {
  const at = FIRST.indexOf(key.split('/')[0] ?? '')
  return at === -1 ? FIRST.length : at
}

interface TemplatesProps {
  readonly found: readonly Template[]
  readonly chosen: Template
  readonly choose: (key: string) => void
}

/** The templates, each with a sentence. */
function Templates({ found, chosen, choose }: TemplatesProps) {
  const name = useId()
  return (
    <fieldset className={styles.choices}>
      <legend>Template</legend>
      {found.map(({ key, name: title, text }) => (
        <label key={key} data-chosen={key === chosen.key || undefined}>
          <input type="radio" name={name} checked={key === chosen.key} onChange={() => choose(key)} />
          <span>
            <b>{title}</b>
            <span>{text}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** What a template holds: its messages, its code, or what one fills in. */
function Preview({ template: { name, parameters, schema } }: { readonly template: Template }) {
  const { prompt, prompt_template: question, code, model } = parameters
  const { messages = question, llm_config: config } = membersOf(prompt)
  const judge = membersOf(config)['model'] ?? model
  const fields = Object.entries(membersOf(membersOf(schema)['properties']))
    .map(([key, it]) => ({ key, ...membersOf(it) }) as Field)
    .filter((it) => it['x-svc-type'] !== 'hidden')
  return (
    <section className={styles.preview} aria-label={`What “${name}” holds`}>
      {Array.isArray(messages) ? (
        <>
          <Conversation messages={messages as readonly Message[]} />
          {typeof judge === 'string' && <p>Model: {judge}</p>}
        </>
      ) : typeof code === 'string' ? (
        <pre tabIndex={0}>{code}</pre>
      ) : fields.length > 0 ? (
        <dl>
          {fields.map(({ key, title, description }) => (
            <div key={key}>
              <dt>{title ?? key}</dt>
              <dd>
                {parameters[key] === undefined || parameters[key] === '' ? (
                  (description ?? 'you fill it in')
                ) : (
                  <code>{JSON.stringify(parameters[key])}</code>
                )}
              </dd>
            </div>
          ))}
        </dl>
      ) : (
        <p>There is nothing to fill in.</p>
      )}
    </section>
  )
}

interface Field {
  readonly key: string
  readonly title?: string
  readonly description?: string
  readonly 'x-svc-type'?: string
}
