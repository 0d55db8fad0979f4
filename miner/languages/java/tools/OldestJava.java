package goldseam;

import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.maven.AbstractMavenLifecycleParticipant;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.ConfigurationContainer;
import org.apache.maven.model.Dependency;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/**
 * Raises the Java that projects have compiled for to the oldest for which the compiler still does (`goldseam.oldest`),
 * has it compile against what that Java had in place of what its own JDK has (`goldseam.release`), takes a plugin that
 * writes manifests on a JDK after 14 (`goldseam.bundles`), compiles nothing of folders for a later Java, which jars
 * alone have (`goldseam.classpath`), compiles without Error Prone, which comes with a compiler of an earlier JDK or
 * looks into that of this one (`goldseam.javac`), or adds the annotations that a JDK before 11 had
 * (`goldseam.annotations`).
 */
public final class OldestJava extends AbstractMavenLifecycleParticipant {
    private static final List<String> NAMES =
        List.of("source", "target", "release", "testSource", "testTarget", "testRelease");
    private static final String PREFIX = "maven.compiler.", WITH_RELEASE = "3.11.0";
    private static final Map<String, String> BUNDLING =
        Map.of("maven-bundle-plugin", "5.1.9", "bnd-maven-plugin", "6.4.0");

    @Override
    public void afterProjectsRead(MavenSession session) {
        String oldest = session.getUserProperties().getProperty("goldseam.oldest");
        boolean byRelease = session.getUserProperties().containsKey("goldseam.release");
        boolean bundles = session.getUserProperties().containsKey("goldseam.bundles");
        boolean byClasspath = session.getUserProperties().containsKey("goldseam.classpath");
        boolean annotates = session.getUserProperties().containsKey("goldseam.annotations");
        boolean byJavac = session.getUserProperties().containsKey("goldseam.javac");
        for (MavenProject project : session.getProjects()) {
            if (oldest != null) raise(project.getProperties(), oldest);
            if (byRelease) useRelease(project.getProperties());
            if (annotates) project.getDependencies().add(annotations());
            for (Plugin plugin : project.getBuildPlugins()) {
                if (bundles && BUNDLING.containsKey(plugin.getArtifactId())) {
                    plugin.setVersion(BUNDLING.get(plugin.getArtifactId()));
                    plugin.getDependencies().clear(); // what an earlier one goes with
                }
                if (!plugin.getArtifactId().equals("maven-compiler-plugin")) continue;
                if (byRelease && plugin.getVersion().matches("[12]\\..*|3\\.[0-5](\\..*)?")) plugin.setVersion(WITH_RELEASE);
                see(plugin, oldest, byRelease);
                plugin.getExecutions().forEach(execution -> see(execution, oldest, byRelease));
                if (byClasspath) plugin.getExecutions().forEach(OldestJava::leaveForJars);
                if (byJavac) {
                    plugin.getDependencies().clear(); // the other compiler
                    useJavac(plugin);
                    plugin.getExecutions().forEach(OldestJava::useJavac);
                }
            }
        }
    }

    private static Dependency annotations() {
        Dependency library = new Dependency();
        library.setGroupId("javax.annotation");
        library.setArtifactId("javax.annotation-api");
        library.setVersion("1.3.2");
        library.setScope("provided");
        return library;
    }

    private static void raise(Properties told, String oldest) {
        for (String name : NAMES) {
            String level = told.getProperty(PREFIX + name);
            boolean byDefault = level == null && List.of("source", "target").contains(name);
            if (byDefault || isOlder(level, oldest)) told.setProperty(PREFIX + name, oldest);
        }
    }

    private static void useRelease(Properties told) {
        String level = told.getProperty(PREFIX + "target", told.getProperty(PREFIX + "source"));
        if (level != null) told.putIfAbsent(PREFIX + "release", plain(level));
    }

    private static void see(ConfigurationContainer place, String oldest, boolean byRelease) {
        if (!(place.getConfiguration() instanceof Xpp3Dom)) return;
        Xpp3Dom written = (Xpp3Dom) place.getConfiguration();
        for (String name : NAMES) {
            Xpp3Dom level = written.getChild(name);
            if (level != null && oldest != null && isOlder(level.getValue(), oldest)) level.setValue(oldest);
        }
        Xpp3Dom level = written.getChild(written.getChild("target") == null ? "source" : "target");
        if (byRelease && level != null && written.getChild("release") == null) {
            Xpp3Dom release = new Xpp3Dom("release");
            release.setValue(plain(level.getValue()));
            written.addChild(release);
        }
    }

    private static void useJavac(ConfigurationContainer place) {
        Xpp3Dom written = (Xpp3Dom) place.getConfiguration();
        if (written == null) return;
        if (written.getChild("compilerId") != null) written.getChild("compilerId").setValue("javac");
        Xpp3Dom words = written.getChild("compilerArgs");
        for (int i = words == null ? -1 : words.getChildCount() - 1; i >= 0; i--) {
            String word = words.getChild(i).getValue();
            if (word != null && word.trim().matches("(?s)-X(plugin:ErrorProne|ep).*")) words.removeChild(i);
        }
    }

    private static void leaveForJars(PluginExecution place) {
        Xpp3Dom written = (Xpp3Dom) place.getConfiguration();
        if (written != null && written.getChild("compileSourceRoots") != null) place.setPhase("none");
    }

    private static boolean isOlder(String told, String oldest) {
        return told != null && told.trim().matches("(1\\.)?\\d+") && major(told) < major(oldest);
    }

    private static int major(String version) {
        return Integer.parseInt(plain(version));
    }

    private static String plain(String version) {
        return version.trim().replaceFirst("^1\\.", "");
    }
}
