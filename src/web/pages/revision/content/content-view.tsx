import { useSearch } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { CodeLines } from '../../../parts/code/code-lines.tsx'
import { JsonView } from '../../../parts/json/json-view.tsx'
import { Empty } from '../../../parts/states/empty.tsx'
import { type Members, membersOf } from '../../../api/members-of.ts'
import { keysOfPlace, parameterRows, promptsOf } from './data-of.ts'
import { ParameterTable } from './parameter-table.tsx'
import { PromptView } from './prompt-view.tsx'
import { WhereItRuns } from './where-it-runs.tsx'
import styles from '../revision.module.css'

/**
 * What the revision holds, as people read it: prompts as conversations, code as code, everything else by name. `?place=`, a JSON Pointer, leads to
 * what holds it.
 */
export function ContentView({ data }: { readonly data: Members }) {
  const { place = '' } = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const content = useRef<HTMLDivElement>(null)
  const marked = keysOfPlace(place)
  useEffect(
    () => content.current?.querySelector('[aria-current=location]')?.scrollIntoView({ block: 'center' }),
    [place],
  )
  const { script, schemas = {}, parameters } = data
  const prompts = promptsOf(data)
  const schema = membersOf(schemas)['parameters']
  const isWhole = prompts.some(({ keys }) => keys.length === 1)
  const shown = new Set(prompts.map(({ keys }) => keys[1]))
  const others = isWhole
    ? []
    : parameterRows(membersOf(parameters), schema).filter(({ name }) => !shown.has(name))
  const contracts = Object.entries(membersOf(schemas))
  if (Object.keys(data).length === 0) return <Empty>This version holds no data.</Empty>
  return (
    <div ref={content} className={styles.content}>
      {prompts.map((prompt) => (
        <PromptView
          key={prompt.keys.join('.')}
          prompt={prompt}
          schema={schema}
          isOnly={prompts.length === 1}
          marked={
            prompt.keys.every((key, at) => marked[at] === key) ? marked.slice(prompt.keys.length) : undefined
          }
        />
      ))}
      {typeof script === 'string' && (
        <section aria-current={marked[0] === 'script' ? 'location' : undefined}>
          <h2>Script</h2>
          <CodeLines label="Script" text={script} />
        </section>
      )}
      {others.length > 0 && (
        <section>
          <h2>Parameters</h2>
          <ParameterTable caption="Parameters" rows={others} marked={marked[1]} />
        </section>
      )}
      <WhereItRuns data={data} />
      {contracts.length > 0 && (
        <section>
          <h2>Schemas</h2>
          {contracts.map(([name, value]) => (
            <JsonView key={name} name={name} value={value} depth={0} />
          ))}
        </section>
      )}
    </div>
  )
}
