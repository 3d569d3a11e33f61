import { useId, useState } from 'preact/hooks';
import { shownText, Untrusted } from '../../parts/untrusted.tsx';
import { pickArchive, pickFiles } from './picked-source.ts';
import { Problem } from '../../parts/field.tsx';
import { sizeText } from '../../parts/words.ts';
import { pickedField, type Creation } from './use-creation.ts';

/** The area to drop or choose a folder or an archive, and a summary of its content. */
export function FolderPicker({ creation: { picked, pick, problems } }: { creation: Creation }) {
  const [isOver, setOver] = useState(false);
  const id = useId();
  const problem = problems[pickedField];
  const descriptionIds = `${id}-hint${problem === undefined ? '' : ` ${id}-problem`}`;
  return (
    <div
      class={`empty new-deployment-drop${isOver ? ' new-deployment-over' : ''}`}
      role="group"
      aria-labelledby={`${id}-title`}
      onDragEnter={() => setOver(true)}
      onDragOver={() => setOver(true)}
      onDragLeave={() => setOver(false)}
      onDrop={() => setOver(false)}
    >
      <h2 id={`${id}-title`}>Drop a folder or an archive here</h2>
      <p class="field-hint" id={`${id}-hint`}>
        Left out are .git, node_modules, files such as .env, and what .gitignore and .landfallignore name. An archive
        ends with .tar.gz, .tgz or .zip.
      </p>
      <div class="actions">
        <label class="button new-deployment-file">
          Choose a folder
          <input
            type="file"
            class="visually-hidden"
            {...{ webkitdirectory: true }}
            aria-describedby={descriptionIds}
            aria-invalid={problem !== undefined}
            onChange={({ currentTarget: input }) => {
              if (input.files?.length) void pick(pickFiles([...input.files]));
              // The same folder may be chosen again after a change.
              input.value = '';
            }}
          />
        </label>
        <label class="button new-deployment-file">
          Choose an archive
          <input
            type="file"
            class="visually-hidden"
            accept=".gz,.tgz,.zip,application/gzip,application/zip"
            aria-describedby={descriptionIds}
            onChange={({ currentTarget: input }) => {
              const file = input.files?.[0];
              if (file) void pick(pickArchive(file));
              input.value = '';
            }}
          />
        </label>
      </div>
      <Problem id={`${id}-problem`} text={problem && shownText(problem)} />
      <div role="status">{picked && <Found {...picked} />}</div>
    </div>
  );
}

const maxListed = 20;

function Found({ name, files, bytes, configPaths, leftOut }: NonNullable<Creation['picked']>) {
  return (
    <div class="new-deployment-found">
      <p>
        {name !== '' && (
          <>
            <Untrusted text={name} longest={100} />:{' '}
          </>
        )}
        {`${files.toLocaleString('en')} ${files === 1 ? 'file' : 'files'}, ${sizeText(bytes)}.`}
      </p>
      {configPaths.length === 0 && (
        <p class="field-error">
          There is no langgraph.json in it. Choose the folder that has it, or enter its path below.
        </p>
      )}
      {leftOut.length > 0 && (
        <details>
          <summary>{`${leftOut.length.toLocaleString('en')} left out`}</summary>
          <ul>
            {leftOut.slice(0, maxListed).map((path) => (
              <li key={path}>
                <Untrusted text={path} longest={200} />
              </li>
            ))}
            {leftOut.length > maxListed && <li>{`and ${leftOut.length - maxListed} more`}</li>}
          </ul>
        </details>
      )}
    </div>
  );
}
