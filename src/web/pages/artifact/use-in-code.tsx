import { Tabs } from 'radix-ui'
import { useState } from 'react'
import { membersOf } from '../../api/json.ts'
import { type Artifact, artifactKind, type Revision } from '../../api/kinds.ts'
import { promptsOf } from '../../parts/content/content.tsx'
import { cloneCommand, curlOf, quoted } from '../../parts/copy/api-lines.tsx'
import { Copyable } from '../../parts/copy/copyable.tsx'
import { ChoiceField } from '../../parts/fields/fields.tsx'
import { withoutEmbeds } from '../../parts/prompt/prompt-text.tsx'
import { variableNames } from '../../../run/templates/template-variables.ts'
import styles from './artifact.module.css'
import type { Shown } from './use-artifact.ts'

export interface UseInCodeProps {
  readonly artifact: Artifact
  readonly shown: Shown
  readonly revision: Revision
}

/** How a program gets the prompt, or runs it: lines to copy, with the chosen environment in them. */
export function UseInCode({ artifact, shown: { end, deployments }, revision }: UseInCodeProps) {
  const [chosen, setChosen] = useState<string>()
  const environments = deployments.map(({ environment }) => environment.slug)
  const usual = end?.kind === 'environment' ? end.slug : (environments[0] ?? NEWEST)
  const environment = chosen ?? usual
  const snippets = snippetsOf(artifact, revision, environment === NEWEST ? undefined : environment)
  const [tab, setTab] = useState('curl')
  return (
    <section>
      <h2>Use in code</h2>
      <ChoiceField
        label="Environment"
        value={environment}
        choices={[
          ...environments.map((value) => ({ value, label: value })),
          { value: NEWEST, label: 'none: always the newest version' },
        ]}
        onChange={setChosen}
      />
      <Tabs.Root value={tab} onValueChange={setTab}>
        <Tabs.List className={styles.codeTabs} aria-label="Language">
          {snippets.map(({ name }) => (
            <Tabs.Trigger key={name} value={keyOf(name)}>
              {name}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {snippets.map(({ name, blocks }) => (
          <Tabs.Content key={name} value={keyOf(name)} className={styles.code}>
            {blocks.map(({ label, text }) => (
              <div key={label}>
                <p className="muted-small">{label}</p>
                <Copyable label={label} text={text} />
              </div>
            ))}
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </section>
  )
}

const NEWEST = ''

/** Radix makes ids of it, which have no spaces. */
function keyOf(name: string): string {
  return name.replace(' ', '-')
}

interface Snippet {
  readonly name: string
  readonly blocks: readonly { readonly label: string; readonly text: string }[]
}

/** The lines by language. The key is always a variable: `BRANCHPOINT_KEY`. */
function snippetsOf(
  artifact: Artifact,
  revision: Revision,
  environment: string | undefined,
): readonly Snippet[] {
  const { slug, git_url: gitUrl } = artifact
  const { list, word } = artifactKind(artifact)
  const family = list.slice(0, -1)
  const { origin } = location
  const at = environment === undefined ? '' : `@${environment}`
  const reference = environment === undefined ? {} : { environment: { slug: environment } }
  const asked = {
    [`${family}_ref`]: { slug },
    ...(environment && { environment_ref: { slug: environment } }),
  }
  const inputs = inputsOf(revision)
  const data = word === 'evaluator' ? { inputs: {}, outputs: '…' } : { inputs }
  const path = list === 'applications' ? slug : `${list}/${slug}`
  const clone = cloneCommand({ git_url: gitUrl })
  return [
    {
      name: 'curl',
      blocks: [
        { label: `Get the ${word}`, text: curlOf(`/${list}/revisions/retrieve`, asked) },
        {
          label: `Run the ${word}`,
          text: curlOf('/services/invoke', { references: { ...reference, [family]: { slug } }, data }),
        },
      ],
    },
    {
      name: 'Command line',
      blocks: [
        { label: 'Log in', text: `echo "$BRANCHPOINT_KEY" | branchpoint login ${origin} --with-token` },
        { label: `Get the ${word}`, text: `branchpoint get ${path}${at}` },
        ...(list === 'applications'
          ? [
              {
                label: `Run the ${word}`,
                text: [
                  'branchpoint run',
                  `${path}${at}`,
                  ...Object.keys(inputs).map((it) => `--input ${quoted(`${it}=…`)}`),
                ].join(' '),
              },
            ]
          : []),
      ],
    },
    {
      name: 'Git',
      blocks: [
        {
          label: 'Clone it; each message is a file',
          text:
            environment === undefined
              ? clone
              : `${clone}\ngit -C ${slug} fetch origin refs/environments/${environment}\ngit -C ${slug} switch --detach FETCH_HEAD`,
        },
      ],
    },
    ...(list === 'applications' ? sdksOf(slug, revision, environment, inputs) : []),
  ]
}

/** SDKs of other products that read prompts from this server (docs/guide/other-clients.md). */
function sdksOf(
  slug: string,
  { data }: Revision,
  environment: string | undefined,
  inputs: Readonly<Record<string, string>>,
): readonly Snippet[] {
  const messages = promptsOf(membersOf(data))[0]?.messages ?? []
  const type = messages.length === 1 && messages[0]?.role === 'user' ? 'text' : 'chat'
  const { origin } = location
  const label = environment ?? 'latest'
  const names = Object.keys(inputs)
  const values = `{${names.map((name) => ` ${JSON.stringify(name)}: "…"`).join(',')}${names.length > 0 ? ' ' : ''}}`
  return [
    {
      name: 'Python',
      blocks: [
        {
          label: 'With the SDK of Langfuse: pip install langfuse',
          text: `import os
from langfuse import Langfuse

langfuse = Langfuse(host="${origin}", public_key="any",
    secret_key=os.environ["BRANCHPOINT_KEY"], tracing_enabled=False)
prompt = langfuse.get_prompt("${slug}", type="${type}", label="${label}")
messages = prompt.compile(**${values})`,
        },
      ],
    },
    {
      name: 'JavaScript',
      blocks: [
        {
          label: 'With the SDK of Langfuse: npm install @langfuse/client',
          text: `import { LangfuseClient } from '@langfuse/client'

const langfuse = new LangfuseClient({
  baseUrl: '${origin}', publicKey: 'any', secretKey: process.env.BRANCHPOINT_KEY,
})
const prompt = await langfuse.prompt.get('${slug}', { type: '${type}', label: '${label}' })
const messages = prompt.compile(${values})`,
        },
      ],
    },
    {
      name: 'LiteLLM',
      blocks: [
        {
          label: 'Part of the configuration of LiteLLM’s proxy',
          text: `prompts:
  - prompt_id: ${slug}
    litellm_params:
      prompt_id: ${slug}
      prompt_integration: generic_prompt_management${environment === undefined ? '' : `\n      provider_specific_query_params: { environment: ${environment} }`}
      api_base: ${origin}
      api_key: os.environ/BRANCHPOINT_KEY`,
        },
      ],
    },
  ]
}

const MOST_INPUTS = 20

/** The variables of the prompt, each with a placeholder for its value. */
function inputsOf({ data }: Revision): Readonly<Record<string, string>> {
  const names = promptsOf(membersOf(data)).flatMap(({ messages, format }) =>
    variableNames(
      messages.flatMap(({ content }) =>
        typeof content === 'string' ? withoutEmbeds(content.slice(0, 100_000)) : [],
      ),
      format,
    ),
  )
  return Object.fromEntries([...new Set(names)].slice(0, MOST_INPUTS).map((name) => [name, '…']))
}
