// Validates pages: {"name", "html"} a line comes in, a line for each fault goes out.
// usage: node validate.mjs FOLDER, which tests/pages/setup prints

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(`${process.argv[2]}/package.json`);
const { HtmlValidate, StaticConfigLoader } = require("html-validate");

const validator = new HtmlValidate(
    new StaticConfigLoader({
        root: true,
        extends: ["html-validate:standard", "html-validate:a11y", "html-validate:document"],
        rules: {
            // The stylesheet comes from where the page comes from.
            "require-sri": "off",
            // A fragment leads to a field, which says the same by its label.
            "long-title": "off",
            // What says that nothing is autocompleted says so on purpose.
            "prefer-native-element": ["error", { exclude: ["table", "row", "cell", "rowgroup", "columnheader"] }],
            // The stylesheet makes cards of tables, and browsers forget then what they were.
            "no-redundant-role": "off",
        },
    }),
);

for await (const line of createInterface({ input: process.stdin })) {
    const { name, html } = JSON.parse(line);
    const report = await validator.validateString(html);
    for (const { messages } of report.results)
        for (const { line, column, ruleId, message, selector } of messages)
            console.log(`${name}:${line}:${column} ${ruleId}: ${message} (${selector})`);
}
