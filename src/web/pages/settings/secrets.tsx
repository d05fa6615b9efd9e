import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { ApiLines } from '../../parts/copy/api-lines.tsx'
import { FormDialog } from '../../parts/dialog/dialog.tsx'
import { TextField } from '../../parts/fields/fields.tsx'
import { Ago } from '../../parts/time/time.tsx'
import { COMMAND } from '../../shell/document.ts'
import { places, useAddress } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import { Lead, Listing } from './section.tsx'
import styles from './settings.module.css'

type Secret = Answer<'GET /secrets'>['secrets'][number]

/** A key that is set, or a provider without one. */
interface KeyRow {
  readonly provider: string
  readonly secret: Secret | undefined
}

/** What is to be set. An empty name or provider is typed in the dialog. */
interface Wanted {
  /** Undefined for a secret that is no provider's key. */
  readonly provider: string | undefined
  readonly name: string
  readonly before: Secret | undefined
}

/** The keys of model providers, and other secrets. `?provider=` or `?name=` opens the dialog for one. */
export function Secrets() {
  const refusal = useRefusal('admin')
  const { provider: asked, name: askedName } = useAddress()
  const navigate = useNavigate()
  const secrets = useRoute('GET /secrets', {}, { enabled: refusal === undefined })
  const [opened, setOpened] = useState<Wanted>()
  const [leaving, setLeaving] = useState<string>()
  /** What the provider said of a key, by the secret's name. */
  const [tests, setTests] = useState<ReadonlyMap<string, KeyTest>>(new Map())
  const remove = useWrite('DELETE /secrets/{name}')
  const { mutateAsync: ask } = useWrite('POST /secrets/{name}/test')
  const stored = refusal === undefined ? secrets.data?.secrets : []
  const wanted = opened ?? (refusal === undefined && stored ? askedFor(asked, askedName, stored) : undefined)
  const close = (): void => {
    setOpened(undefined)
    if (asked !== undefined || askedName !== undefined) void navigate({ to: places.settings('secrets') })
  }
  const test = async (name: string): Promise<void> => {
    const say = (said: KeyTest): void => setTests((before) => new Map(before).set(name, said))
    say({ detail: 'Asking the provider …' })
    await ask({ path: { name } }).then(
      (answer) => say(answer.test),
      (error: unknown) => say({ ok: false, detail: error instanceof Error ? error.message : String(error) }),
    )
  }
  const open = (row: KeyRow): void =>
    setOpened({
      provider: row.provider,
      name: row.secret?.name ?? usualName(row.provider),
      before: row.secret,
    })
  return (
    <>
      <Lead
        refusal={refusal}
        action={
          <Button needs="admin" onClick={() => setOpened({ provider: '', name: '', before: undefined })}>
            Another provider
          </Button>
        }
      >
        Prompts call models with these keys. They are stored encrypted, outside the repositories, and never
        shown again. Where none is set, a key of the server’s own settings is used.
      </Lead>
      <Listing
        things="provider keys"
        rows={stored && keyRows(stored)}
        query={secrets}
        empty=""
        caption="Provider keys"
        keyOf={({ provider, secret }) => secret?.name ?? provider}
        columns={[
          {
            name: 'Provider',
            cell: ({ provider, secret }) => (
              <>
                <b>{labelOf(provider)}</b>
                {secret && secret.name !== usualName(provider) && (
                  <div className="muted">
                    as <code>{secret.name}</code>
                  </div>
                )}
                {secret?.base_url !== undefined && <div className="muted">{secret.base_url}</div>}
              </>
            ),
          },
          {
            name: 'Key',
            cell: ({ secret }) =>
              secret ? (
                <>
                  set <Ago date={secret.updated_at} inSentence />
                  <TestResult test={tests.get(secret.name)} />
                </>
              ) : (
                <span className="muted">{refusal === undefined ? 'not set' : 'not shown'}</span>
              ),
          },
          {
            name: 'Change',
            cell: (row) => {
              const label = labelOf(row.provider)
              if (!row.secret)
                return (
                  <Button needs="admin" aria-label={`Add key for ${label}`} onClick={() => open(row)}>
                    Add key
                  </Button>
                )
              const { name } = row.secret
              return (
                <span className="row">
                  <Button needs="admin" aria-label={`Test ${name}`} onClick={() => void test(name)}>
                    Test
                  </Button>
                  <Button needs="admin" aria-label={`Replace ${name}`} onClick={() => open(row)}>
                    Replace
                  </Button>
                  <Button needs="admin" aria-label={`Remove ${name}`} onClick={() => setLeaving(name)}>
                    Remove
                  </Button>
                </span>
              )
            },
          },
        ]}
      />
      <div className={`between ${styles.head}`}>
        <h2>Other secrets</h2>
        <Button needs="admin" onClick={() => setOpened({ provider: undefined, name: '', before: undefined })}>
          Set a secret
        </Button>
      </div>
      <Listing
        things="secrets"
        rows={secrets.data && stored?.filter((secret) => providerOf(secret) === undefined)}
        query={secrets}
        empty="No other secrets yet. Tokens for hooks and evaluators of your own go here."
        caption="Other secrets"
        keyOf={({ name }) => name}
        columns={[
          { name: 'Name', cell: ({ name }) => <code>{name}</code> },
          { name: 'Set', cell: (it) => <Ago date={it.updated_at} inSentence /> },
          {
            name: 'Change',
            cell: (it) => (
              <span className="row">
                <Button
                  needs="admin"
                  aria-label={`Replace ${it.name}`}
                  onClick={() => setOpened({ provider: undefined, name: it.name, before: it })}
                >
                  Replace
                </Button>
                <Button needs="admin" aria-label={`Remove ${it.name}`} onClick={() => setLeaving(it.name)}>
                  Remove
                </Button>
              </span>
            ),
          },
        ]}
      />
      <ApiLines lines={[{ label: 'Set a secret', text: `${COMMAND} secrets set OPENAI_API_KEY` }]} />
      {wanted && (
        <SetSecret
          key={`${wanted.provider} ${wanted.name}`}
          wanted={wanted}
          close={close}
          onSet={(name, isProviders) => {
            if (isProviders) void test(name)
          }}
        />
      )}
      {leaving !== undefined && (
        <FormDialog
          kind="danger"
          title={`Remove ${leaving}?`}
          action={`Remove ${leaving}`}
          needs="admin"
          submit={() => remove.mutateAsync({ path: { name: leaving } })}
          close={() => setLeaving(undefined)}
        >
          <p>Runs that use it will fail. The value cannot be restored.</p>
        </FormDialog>
      )}
    </>
  )
}

/** The keys that are set, then the providers without one. */
function keyRows(secrets: readonly Secret[]): readonly KeyRow[] {
  const set = secrets.flatMap((secret) => {
    const provider = providerOf(secret)
    return provider === undefined ? [] : [{ provider, secret }]
  })
  const unset = PROVIDERS.filter(({ name }) => !set.some(({ provider }) => provider === name))
  return [...set, ...unset.map(({ name }) => ({ provider: name, secret: undefined }))]
}

/** What the address asks to set. */
function askedFor(
  provider: string | undefined,
  name: string | undefined,
  secrets: readonly Secret[],
): Wanted | undefined {
  if (name === undefined && provider === undefined) return undefined
  const wanted = name ?? usualName(provider ?? '')
  const before = secrets.find((it) => it.name === wanted)
  return { provider: provider ?? providerOf(before ?? { name: wanted }), name: wanted, before }
}

/** What a provider said; without `ok` while it is asked. */
interface KeyTest {
  readonly ok?: boolean
  readonly detail: string
}

function TestResult({ test }: { readonly test: KeyTest | undefined }) {
  return (
    <div role="status" className={test?.ok === undefined ? 'muted' : test.ok ? 'good' : 'bad'}>
      {test && (test.ok === undefined ? test.detail : `${test.ok ? '✓' : '✗'} ${test.detail}`)}
    </div>
  )
}

interface SetSecretProps {
  readonly wanted: Wanted
  readonly close: () => void
  /** Called with the name of what was set, and whether it is a provider's key. */
  readonly onSet: (name: string, isProviders: boolean) => void
}

/** Sets a provider's key or another secret, or replaces its value. */
function SetSecret({ wanted, close, onSet }: SetSecretProps) {
  const { before, provider: given } = wanted
  const isProviders = given !== undefined
  const isKnown = PROVIDERS.some(({ name }) => name === given)
  const [name, setName] = useState(wanted.name)
  const [value, setValue] = useState('')
  const [provider, setProvider] = useState(given ?? '')
  const [baseUrl, setBaseUrl] = useState(before?.base_url ?? '')
  const { mutateAsync } = useWrite('PUT /secrets/{name}')
  const own = isProviders && name.trim() === '' ? usualName(provider.trim()) : name.trim()
  const missing = [
    isProviders && provider.trim() === '' && 'Name the provider.',
    !isProviders && own === '' && 'A secret needs a name.',
    value === '' && (isProviders ? 'Paste the key.' : 'A secret needs a value.'),
    isProviders && !isKnown && baseUrl.trim() === '' && 'Another provider needs its base URL.',
  ].find((it) => it !== false)
  async function save(): Promise<void> {
    const secret = {
      value,
      ...(isProviders ? { provider: provider.trim() } : {}),
      ...(baseUrl.trim() === '' ? {} : { base_url: baseUrl.trim() }),
    }
    await mutateAsync({ path: { name: own }, body: { secret } })
    onSet(own, isProviders)
  }
  const what = isProviders ? `${isKnown ? labelOf(provider) : 'provider'} key` : 'secret'
  return (
    <FormDialog
      title={before ? `Replace ${before.name}` : isProviders ? `Add ${article(what)}` : 'Set a secret'}
      action={isProviders ? 'Save and test' : `Set ${own || 'the secret'}`}
      needs="admin"
      refusal={missing}
      submit={save}
      close={close}
    >
      {(problemOf) => (
        <>
          {isProviders && !isKnown && (
            <TextField
              label="Provider"
              value={provider}
              onChange={setProvider}
              readOnly={before !== undefined}
              problem={problemOf('provider')}
              hint="Any name: prompts write it before the model, as in my-gateway/gpt-5. It has to speak OpenAI’s chat completions."
              autoFocus
              autoComplete="off"
            />
          )}
          {!isProviders && (
            <TextField
              label="Name"
              value={name}
              onChange={setName}
              readOnly={wanted.name !== ''}
              placeholder="HOOK_TOKEN"
              problem={problemOf('name')}
              autoFocus={wanted.name === ''}
              autoComplete="off"
            />
          )}
          <TextField
            label={isProviders ? 'API key' : 'Value'}
            type="password"
            value={value}
            onChange={setValue}
            problem={problemOf('value')}
            hint="It is not shown again. The next run uses it."
            autoFocus={isProviders ? isKnown : wanted.name !== ''}
            autoComplete="new-password"
          />
          {isProviders && (
            <>
              <TextField
                label="Base URL"
                value={baseUrl}
                onChange={setBaseUrl}
                problem={problemOf('base_url')}
                placeholder={isKnown ? 'the usual one' : 'https://models.example.org/v1'}
                hint={isKnown ? 'Only for a gateway or a server of your own.' : 'Where its interface is.'}
                autoComplete="off"
              />
              <TextField
                label="Name"
                value={own}
                onChange={setName}
                readOnly={before !== undefined}
                problem={problemOf('name')}
                hint="Prompts use this key unless they name another one. A second key of a provider needs a name of its own."
                autoComplete="off"
              />
            </>
          )}
        </>
      )}
    </FormDialog>
  )
}

function article(words: string): string {
  return `${/^[aeiou]/i.test(words) ? 'an' : 'a'} ${words}`
}

/** A provider of models, as people call it. */
interface Provider {
  readonly name: string
  readonly label: string
}

/** The providers that the server knows, by their names there. */
const PROVIDERS: readonly Provider[] = [
  { name: 'openai', label: 'OpenAI' },
  { name: 'anthropic', label: 'Anthropic' },
  { name: 'gemini', label: 'Google Gemini' },
  { name: 'mistral', label: 'Mistral' },
  { name: 'groq', label: 'Groq' },
  { name: 'cohere', label: 'Cohere' },
  { name: 'perplexity', label: 'Perplexity' },
  { name: 'together_ai', label: 'Together AI' },
  { name: 'deepinfra', label: 'DeepInfra' },
  { name: 'openrouter', label: 'OpenRouter' },
  { name: 'minimax', label: 'MiniMax' },
]

/** The secret that a prompt takes for a provider if it names none: `OPENAI_API_KEY`. */
function usualName(provider: string): string {
  return `${provider.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}_API_KEY`
}

/** The name of the provider that a secret is the key of; undefined if it is another secret. */
function providerOf(secret: {
  readonly name: string
  readonly provider?: string | undefined
}): string | undefined {
  return secret.provider ?? PROVIDERS.find(({ name }) => usualName(name) === secret.name)?.name
}

/** `OpenAI`; a provider that the server does not know by its own name. */
function labelOf(provider: string): string {
  return PROVIDERS.find(({ name }) => name === provider)?.label ?? provider
}
