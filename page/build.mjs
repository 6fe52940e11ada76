// Bundles the page into the folder that is given, beside the licences of what is in it.
import { build } from "esbuild";
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? join(here, "../src/unbend/web/bundle"));

async function bundle(entry, output, format) {
  const made = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    outfile: join(target, output),
    bundle: true,
    minify: true,
    format,
    target: "es2021",
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  return Object.keys(made.metafile.inputs);
}

// Packages in the bundle, by the folders of the files that esbuild read.
function packagesOf(inputs) {
  const names = inputs
    .map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1])
    .filter(Boolean);
  return [...new Set(names)].sort();
}

// With what these packages are made of: some come bundled already.
async function withDependencies(names) {
  const all = new Set();
  const add = async (name) => {
    if (all.has(name)) return;
    all.add(name);
    const about = JSON.parse(await readFile(join(here, "node_modules", name, "package.json"), "utf8"));
    for (const each of Object.keys(about.dependencies ?? {})) await add(each);
  };
  for (const name of names) await add(name);
  return [...all].sort();
}

async function licenceOf(name) {
  const folder = join(here, "node_modules", name);
  const about = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
  const text = file ? await readFile(join(folder, file), "utf8") : `License: ${about.license}`;
  return `${name} ${about.version} (${about.license})\n\n${text.trim()}\n`;
}

await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });
const inputs = [
  ...(await bundle("src/main.js", "app.js", "esm")),
  ...(await bundle("src/maps/frame.js", "frame.js", "iife")),
  ...(await bundle("src/style.css", "app.css")),
  ...(await bundle("src/frame.css", "frame.css")),
];
const packages = await withDependencies(packagesOf(inputs));
const licences = await Promise.all(packages.map(licenceOf));
await writeFile(join(target, "licenses.txt"), licences.join(`\n${"-".repeat(72)}\n\n`));
for (const name of ["index.html", "frame.html"]) {
  await copyFile(join(here, "src", name), join(target, name));
}
